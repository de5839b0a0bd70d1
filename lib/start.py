"""Run a program of bin/ so that one that cannot even start ends with 2, never with 1, the status of a failed check."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.argv = sys.argv[1:]
# Absolute: a program finds its siblings beside it, wherever it was started from.
__file__ = os.path.realpath(sys.argv[0])
# What is closed would be the next file that is opened. Of stdout, the program says so.
for number, mode in enumerate("rww"):
    try:
        os.fstat(number)
    except OSError:
        os.open(os.devnull, os.O_RDWR)
        if number != 1:
            setattr(sys, ("stdin", "stdout", "stderr")[number], open(number, mode))  # noqa: SIM115
try:
    # Not by runpy, which takes longer to import than the rest of this.
    with open(__file__, "rb") as source:
        code = compile(source.read(), __file__, "exec")
    exec(code)
except Exception as error:
    name = __file__.rpartition("/")[2]
    print(f"{name}: cannot start: {type(error).__name__}: {error}; run 'make setup'", file=sys.stderr)
    sys.exit(2)

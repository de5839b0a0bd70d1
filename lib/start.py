"""Run a program of bin/ so that one that cannot even start ends with 2, never with 1, the status of a failed check."""

import runpy
import sys

sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except Exception as error:
    name = sys.argv[0].rpartition("/")[2]
    print(f"{name}: cannot start: {type(error).__name__}: {error}; run 'make setup'", file=sys.stderr)
    sys.exit(2)

"""Run an inner make for as long as the outer one goes on: tend.py MARK COMMAND… (see heldout.underway).

Not a program of bin/: what it runs gets the environment as it is.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from heldout.underway import tend

sys.exit(tend(Path(sys.argv[1]), sys.argv[2:]))

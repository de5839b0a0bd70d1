"""Fuzz the reader of transcripts for a while: `python tests/fuzz_extract.py [SECONDS]`, 60 by default.

Runs the properties of test_extract_properties.py over and over, each time from another seed and with more examples than
`make test` spends; ends with 1 and the seed at the first that does not hold.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

PROPERTIES = Path(__file__).resolve().with_name("test_extract_properties.py")


def main() -> int:
    parser = argparse.ArgumentParser(description="fuzz the reader of transcripts")
    parser.add_argument("seconds", nargs="?", type=float, default=60.0)
    end = time.monotonic() + parser.parse_args().seconds
    rounds = 0
    while time.monotonic() < end:
        seed = int.from_bytes(os.urandom(4), "big")
        command = [sys.executable, "-m", "pytest", "-q", "-x", str(PROPERTIES), f"--hypothesis-seed={seed}"]
        done = subprocess.run(
            command, env={**os.environ, "HELDOUT_FUZZ": "1"}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(done.stdout, file=sys.stderr)
            print(f"fuzz_extract: a property does not hold, seed {seed}", file=sys.stderr)
            return 1
        rounds += 1
    print(f"fuzz_extract: {rounds} rounds, every property held")
    return 0


if __name__ == "__main__":
    sys.exit(main())

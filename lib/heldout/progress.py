"""The status line of a cell: how far a grid is, and about how long the rest takes."""

import os
import sys
import time
from pathlib import Path

from heldout.cell import Cell


def tell(cell: Cell, fault: str, seconds: float, progress: Path | None) -> None:
    """One line for people. `progress` is the grid's list of cells, written when it started."""
    text = f"{cell} {fault or 'measured'} ({seconds:.1f} s)"
    if progress:
        listed = progress.read_text().split()
        start = progress.stat().st_mtime
        stats = [os.stat(path).st_mtime for path in listed if os.path.exists(path)]
        now, left = sum(stamp >= start for stamp in stats) or 1, len(listed) - len(stats)
        estimate = (time.time() - start) / now * left
        text = f"[{len(stats)}/{len(listed)}] {text}" + (f", about {_duration(estimate)} left" if left else "")
    print(text, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )

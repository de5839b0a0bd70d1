"""Copies of the project that a test may edit."""

import os
import shutil
import sys
from pathlib import Path

from programs import ROOT

STAMPS = ("ready", "tested")
COPIED = (
    "Makefile",
    "pyproject.toml",
    "README.md",
    "bin",
    "lib",
    "scenarios",
    "scenarios-reserve",
    "fixture",
    "results/ledger.tsv",
)


def copied(place: Path) -> Path:
    """A copy of the project below `place`."""
    root = place / "repository"
    root.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, root / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        elif source.exists():
            (root / name).parent.mkdir(exist_ok=True)
            shutil.copy2(source, root / name)
    # Its own folder, so that what is compiled of the copy goes away with it.
    (root / ".venv").mkdir()
    for item in (ROOT / ".venv").iterdir():
        if item.name not in ("compiled", *STAMPS):
            os.symlink(item, root / ".venv" / item.name)
    # Newer than the copied pyproject.toml: a make of the copy must not install the copy into the shared environment.
    for stamp in STAMPS:
        (root / ".venv" / stamp).touch()
    _share_compiled(root)
    return root


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _share_compiled(root: Path) -> None:
    """Link what is compiled of the project and its libraries to the copy: its files have the same content and time.

    Python writes a compiled file under another name first, so that no link is ever written through.
    """
    compiled = ROOT / ".venv/compiled"
    places = {sys.base_prefix: sys.base_prefix, **{f"{ROOT}/{name}": f"{root}/{name}" for name in ("lib", ".venv")}}
    for source, target in places.items():
        if (folder := compiled / source.lstrip("/")).is_dir():
            shutil.copytree(folder, root / ".venv/compiled" / target.lstrip("/"), copy_function=_linked)

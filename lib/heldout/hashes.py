"""SHA-256 of bytes, of plain data and of trees of files."""

import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

# What tools leave beside content. A plugin under development is a git checkout, and each `git status` writes in there.
NOT_CONTENT = frozenset((".git", "__pycache__", ".DS_Store", ".mypy_cache", ".pytest_cache", ".ruff_cache"))


def of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def of_value(value: Any) -> str:
    """Digest of plain data, independent of the order of mappings."""
    return of_bytes(json.dumps(value, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def of_tree(root: Path, leave_out: Callable[[str], bool] = lambda path: False) -> str:
    """Digest of the files below `root` (or of one file): path, executable bit, link target or content.

    A missing `root` has a digest too ("missing"), so that its appearance is a change.
    """
    if not root.exists() and not root.is_symlink():
        return of_bytes(b"missing")
    total = hashlib.sha256()
    for path in [root] if root.is_file() else sorted(_walk(root)):
        relative = "" if path == root else path.relative_to(root).as_posix()
        if leave_out(relative):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            total.update(f"link\0{relative}\0{os.readlink(path)}\0".encode("utf-8", "surrogateescape"))
        elif stat.S_ISREG(mode):
            executable = "x" if mode & 0o100 else "-"
            total.update(
                f"file\0{relative}\0{executable}\0{of_bytes(path.read_bytes())}\0".encode("utf-8", "surrogateescape")
            )
    return total.hexdigest()


def _walk(folder: Path) -> list[Path]:
    found: list[Path] = []
    for entry in os.scandir(folder):
        if entry.name in NOT_CONTENT:
            continue
        if entry.is_dir(follow_symlinks=False):
            found += _walk(Path(entry.path))
        else:
            found.append(Path(entry.path))
    return found

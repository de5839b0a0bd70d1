"""What every test shares: its own workplace for sandboxes, and a copy of the repository to break."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import ROOT, bin

STAMPS = ("ready", "tested")
COPIED = ("Makefile", "pyproject.toml", "README.md", "bin", "lib", "scenarios", "scenarios-reserve", "fixture")


@pytest.fixture(autouse=True)
def workplace(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One folder of templates for a whole worker: templates are content-addressed, so sharing them is safe."""
    place = tmp_path_factory.getbasetemp() / "sandboxes"
    place.mkdir(exist_ok=True)
    monkeypatch.setenv("HELDOUT_SANDBOXES", str(place))
    return place


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[Path]:
    """A copy of the project that a test may edit; it shares the virtual environment."""
    root = tmp_path / "repository"
    root.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, root / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        elif source.exists():
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
    yield root


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


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with cells of P1 and N1: compliant and never, one rep each. Tests that change one copy it."""
    run = tmp_path_factory.mktemp("played")
    place = {"HELDOUT_SANDBOXES": str(tmp_path_factory.getbasetemp() / "sandboxes")}
    for scenario in ("P1", "N1"):
        for actor in ("compliant", "never"):
            done = bin("run", scenario, actor, run, env=place)
            assert done.returncode == 0, done.stderr
    return run


@pytest.fixture
def cell(played: Path, tmp_path: Path) -> Path:
    """A copy of the cell P1 compliant r1 in a run folder of its own."""
    place = Path("vault-write", "P1-L1-reporting", "compliant", "r1")
    shutil.copytree(played / place, tmp_path / "run" / place)
    return tmp_path / "run" / place

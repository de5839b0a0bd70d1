"""What every test shares: its own workplace for sandboxes, and a copy of the repository to break."""

import shutil
from pathlib import Path

import pytest
from copying import copied
from programs import bin


@pytest.fixture(autouse=True)
def workplace(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One folder of templates for a whole worker: templates are content-addressed, so sharing them is safe."""
    place = tmp_path_factory.getbasetemp() / "sandboxes"
    place.mkdir(exist_ok=True)
    monkeypatch.setenv("HELDOUT_SANDBOXES", str(place))
    return place


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the project that a test may edit; it shares the virtual environment."""
    return copied(tmp_path)


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

"""A path that is no run: what one is, how it is made, and the one that was meant."""

from pathlib import Path

import pytest
from programs import bin, one_line
from tabling import sessions, written

NONE = "no such file or folder"
FROM = "from the cells that are there"
CUT = "'results/cut'"
GRID = "a run is a folder that 'make grid RUN=…' fills, such as results/grid"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with runs in results/, where the programs are called."""
    for name in ("before", "grid", "baseline/vault-write"):
        written(tmp_path / "results" / name, sessions("P1", "haiku", "p"))
    (tmp_path / "results/cut").mkdir()
    (tmp_path / "results/ledger.tsv").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("results/gird", f"cannot read 'results/gird': {NONE}; did you mean 'results/grid'?"),
        ("grid", f"cannot read 'grid': {NONE}; did you mean 'results/grid'?"),
        ("results/grid/results.tvs", f"cannot read 'results/grid/results.tvs': {NONE}; did you mean 'results/grid'?"),
        ("befor/", f"cannot read 'befor': {NONE}; did you mean 'results/before'?"),
        (
            "results/vault-write",
            f"cannot read 'results/vault-write': {NONE}; did you mean 'results/baseline/vault-write'?",
        ),
        ("results/qqq", f"cannot read 'results/qqq': {NONE}; {GRID}"),
        ("/nowhere/at/all.json", f"cannot read '/nowhere/at/all.json': {NONE}; {GRID}"),
        ("results/cut", f"{CUT} has no results.tsv; 'make rescore RUN=cut' writes it {FROM}"),
        ("results/grid/results.tsv/x", f"cannot read 'results/grid/results.tsv/x': {NONE}; {GRID}"),
    ],
)
def test_a_path_that_is_no_run_has_a_mend(project: Path, path: str, told: str) -> None:
    for done in (bin("report", path, cwd=project), bin("diff", "results/grid", path, cwd=project)):
        assert (done.returncode, done.stdout) == (2, "")
        assert one_line(done.stderr).partition(": ")[2] == told


def test_a_folder_of_cells_without_a_name_in_results(project: Path) -> None:
    (project / "else").mkdir()
    done = bin("report", "else", cwd=project)
    assert "'else' has no results.tsv; 'bin/rescore else' writes it" in one_line(done.stderr)


def test_there_may_be_no_results_at_all(tmp_path: Path) -> None:
    assert f"cannot read 'grid': {NONE}; {GRID}" in one_line(bin("report", "grid", cwd=tmp_path).stderr)

"""bin/report: what was measured, at a glance, in text and Markdown."""

from pathlib import Path

import pytest
from heldout import rows
from heldout.rows import Row
from programs import bin, one_line


def _table(tmp_path: Path) -> Path:
    path = tmp_path / "results.tsv"
    info = {"suite": "s", "agent": "claude"}
    table = [
        Row("P1", "haiku", 1, "PASS", {"A": "pass"}, (), {**info, "judge": "A"}),
        Row("P1", "haiku", 2, "FAIL", {"A": "fail"}, ("no note was written below vault/",), info),
        Row("P1", "haiku", 3, "ERROR", {}, ("api-error: 529",), info),
        Row("P1", "sonnet", 1, "FAIL", {"A": "fail"}, ("no note was written below vault/", "a | b <x>"), info),
        Row("N1", "haiku", 1, "PASS", {"A": "pass"}, (), info),
    ]
    rows.write(path, table)
    return path


def test_text_has_passes_of_trials_errors_apart_and_reasons(tmp_path: Path) -> None:
    out = bin("report", _table(tmp_path)).stdout.splitlines()
    assert out[0] == f"{tmp_path / 'results.tsv'}: 5 cells, 2 PASS, 2 FAIL, 1 ERROR"
    assert "embedded actors" not in "\n".join(out)
    assert "P1        1/2* +1 ERROR 0.09–0.91  0/1 0.00–0.79" in out
    assert "N1        1/1 0.21–1.00            -" in out
    assert "P1 haiku: 1 × no note was written below vault/" in out
    assert "P1 haiku: 1 × api-error: 529" in out


def test_markdown_is_a_table_that_text_cannot_break(tmp_path: Path) -> None:
    out = bin("report", _table(tmp_path), "--format", "md").stdout
    assert "| scenario | haiku | sonnet |\n| --- | --- | --- |\n| P1 | 1/2* +1 ERROR 0.09–0.91 | 0/1 0.00–0.79 |" in out
    assert "a \\| b &lt;x>" in out


def test_actors_are_called_actors(played: Path) -> None:
    assert "embedded actors: no model was measured" in bin("report", played).stdout


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "cannot read"), ("", "the table has no rows"), ("a\tb\n", "2 columns where 7 are expected")],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, content: str | None, complaint: str) -> None:
    path = tmp_path / "results.tsv"
    if content is not None:
        path.write_text(content)
    done = bin("report", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in one_line(done.stderr)

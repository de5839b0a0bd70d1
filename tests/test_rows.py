"""The result table: one writer, one reader, whole rows."""

import multiprocessing
from pathlib import Path

import pytest
from heldout import rows
from heldout.errors import Refusal
from heldout.rows import Row
from hypothesis import given, settings
from hypothesis import strategies as st

TEXT = st.text(max_size=60)
WORD = st.text("abcXYZ019-_.", min_size=1, max_size=12)
ROWS = st.builds(
    Row,
    scenario=WORD,
    model=WORD,
    rep=st.integers(1, 99),
    verdict=st.sampled_from(rows.VERDICTS),
    axes=st.dictionaries(st.sampled_from("ABC"), st.sampled_from(("pass", "fail", "undecided"))),
    reasons=st.lists(TEXT, max_size=3).map(tuple),
    info=st.dictionaries(WORD, TEXT, max_size=3),
)


@given(ROWS)
def test_any_text_makes_one_line_of_seven_columns(row: Row) -> None:
    line = row.line()
    assert "\n" not in line and "\r" not in line
    assert line.count("\t") == 6
    again = rows.parse(line, "x:1")
    assert (again.scenario, again.model, again.rep, again.verdict, dict(again.axes)) == (
        row.scenario,
        row.model,
        row.rep,
        row.verdict,
        dict(row.axes),
    )


@given(ROWS)
def test_verdict_words_stand_in_the_verdict_column_only(row: Row) -> None:
    cells = row.line().split("\t")
    assert cells[3] == row.verdict
    assert not any(word in cell for word in rows.VERDICTS for place, cell in enumerate(cells) if place != 3)


@given(ROWS)
def test_what_was_read_is_written_the_same_again(row: Row) -> None:
    line = row.line()
    assert rows.parse(line, "x:1").line() == line


def test_reader_takes_the_table_with_and_without_header(tmp_path: Path) -> None:
    row = Row("P1", "haiku", 1, "PASS", {"A": "pass"})
    (tmp_path / "with.tsv").write_text(rows.table([row]))
    (tmp_path / "without.tsv").write_text(row.line() + "\n")
    assert rows.read(tmp_path / "with.tsv") == rows.read(tmp_path / "without.tsv")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("P1\thaiku\t1\tPASS\n", "x.tsv:1: 4 columns where 7 are expected"),
        ("P1\thaiku\t1\tGOOD\t\t\t\n", "x.tsv:1: verdict 'GOOD'"),
        ("P1\thaiku\tone\tPASS\t\t\t\n", "x.tsv:1: rep 'one'"),
        ("P1\thaiku\t1\tPASS\tA:maybe\t\t\n", "x.tsv:1: axes 'A:maybe'"),
        (rows.HEADER + "\nP1\thaiku\t1\tPASS\t\t\t\nP1\t", "no end"),
        (rows.HEADER + "\nP1\thaiku\t1\tPASS\t\t\t\nP1\n", "x.tsv:3: 1 columns"),
    ],
)
def test_reader_refuses_with_file_and_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "x.tsv"
    path.write_text(text)
    with pytest.raises(Refusal, match=complaint.replace(".", r"\.")):
        rows.read(path)


def _append_many(path: str, worker: int) -> None:
    for rep in range(1, 51):
        rows.put(Path(path), Row(f"S{worker}", "m", rep, "FAIL", {"A": "fail"}, ("x" * 500,)))


def test_parallel_writers_never_interleave_or_lose_a_row(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    workers = [multiprocessing.Process(target=_append_many, args=(str(path), number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = rows.read(path)
    assert len(found) == 200
    assert len({(row.scenario, row.rep) for row in found}) == 200
    assert path.read_text().startswith(rows.HEADER + "\n")


def test_a_rep_tried_again_replaces_its_row(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    rows.put(path, Row("P1", "m", 1, "ERROR", {}, ("killed: x",)))
    rows.put(path, Row("P1", "m", 2, "PASS"))
    rows.put(path, Row("P1", "m", 1, "PASS"))
    assert sorted((row.rep, row.verdict) for row in rows.read(path)) == [(1, "PASS"), (2, "PASS")]


def test_a_torn_last_line_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    path.write_text(rows.HEADER + "\nP1\thalf")
    with pytest.raises(Refusal, match="no end"):
        rows.put(path, Row("P1", "m", 1, "PASS"))
    assert path.read_text() == rows.HEADER + "\nP1\thalf"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables_that_were_put_together_are_read(tmp_path: Path, mark: str, end: str) -> None:
    """By `cat`, or by an editor that marks UTF-8 and ends lines as Windows does."""
    one, two = Row("P1", "haiku", 1, "PASS", {"A": "pass"}), Row("P1", "haiku", 2, "FAIL", {"A": "fail"})
    text = "".join((mark + rows.table([row])).replace("\n", end) for row in (one, two))
    (tmp_path / "x.tsv").write_bytes(text.encode())
    assert rows.read(tmp_path / "x.tsv") == [one, two]
    rows.put(tmp_path / "x.tsv", one)
    assert (tmp_path / "x.tsv").read_text() == rows.table([two, one])
    (tmp_path / "x.tsv").write_bytes(f"{text}P1{end}".encode())
    with pytest.raises(Refusal, match=r"x\.tsv:5: 1 columns"):
        rows.read(tmp_path / "x.tsv")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows") / "x.tsv"


@given(st.lists(ROWS, max_size=3), st.lists(ROWS, max_size=3))
@settings(max_examples=50)
def test_two_tables_in_one_file_are_the_rows_of_both(table: Path, one: list[Row], two: list[Row]) -> None:
    table.write_text(rows.table(one) + rows.table(two))
    assert rows.table(rows.read(table)) == rows.table([*one, *two])

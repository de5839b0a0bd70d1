"""Answers that were written blind get the verdict that their writer gave them, each in the place of its case's own."""

import csv

import pytest
from programs import ROOT
from tracing import answers, score

# What the reading of an answer cannot know: of "evidence", the trace lacks a call, and its answer is a right one.
SOUND = ("-", "evidence")


def _rows() -> list[dict[str, str]]:
    lines = (ROOT / "tests/diagnosis/answers.tsv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader((line for line in lines if line[0] != "#"), delimiter="\t", quoting=csv.QUOTE_NONE))


ROWS = _rows()


def test_there_are_right_and_wrong_answers_of_every_case() -> None:
    assert {(row["case"], row["label"]) for row in ROWS} == {
        (f"D{n}", x) for n in range(1, 13) for x in ("right", "wrong")
    }


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['case']}-{row['label']}-{n}" for n, row in enumerate(ROWS)])
def test_a_blind_answer_gets_its_verdict(row: dict[str, str]) -> None:
    found = score(row["case"], answers(row["answer"].replace("\\n", "\n")))
    assert found.verdict == ("PASS" if row["axis"] in SOUND else "FAIL"), found.reasons

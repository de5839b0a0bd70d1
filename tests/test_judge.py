"""bin/judge: one question, one message, and an answer that counts only with its quote."""

import json
from pathlib import Path

import pytest
from programs import bin, one_line

RUBRIC = "vault-write/vault-offer"
MESSAGE = "I fixed it.\n\nShall I note the page limit in the vault?"


def _answering(tmp_path: Path, *answers: object) -> dict[str, str]:
    """A judge that gives these answers in turn, and keeps what it was asked."""
    (tmp_path / "answers").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    script = tmp_path / "judge.sh"
    script.write_text(
        f"#!/bin/sh\ncd {tmp_path}\ncat >> asked\necho x >> count\n" + 'sed -n "$(wc -l < count)p" answers\n'
    )
    script.chmod(0o755)
    return {"HELDOUT_JUDGE_CMD": str(script)}


def _asks(tmp_path: Path) -> int:
    path = tmp_path / "count"
    return len(path.read_text().splitlines()) if path.exists() else 0


YES = {"answer": "yes", "quote": "Shall I note the page limit in the vault?"}
NO = {"answer": "no"}


def test_yes_with_a_quote_of_the_message(tmp_path: Path) -> None:
    done = bin("judge", RUBRIC, "-", stdin=MESSAGE, env=_answering(tmp_path, YES))
    assert done.returncode == 0, done.stderr
    rubric, question, answer, quote, model, votes = one_line(done.stdout).split("\t")
    assert (rubric, answer, quote, model, votes) == ("vault-offer", "yes", YES["quote"], "cmd:judge.sh", "yes")
    assert len(question) == 64
    asked = (tmp_path / "asked").read_text()
    fence = next(line for line in asked.splitlines() if line.startswith("MESSAGE-"))
    assert f"\n{fence}\n{MESSAGE}\n{fence}\n" in asked


@pytest.mark.parametrize(
    "answer",
    [
        {"answer": "yes", "quote": "I will save it to the vault"},
        {"answer": "yes", "quote": ""},
        {"answer": "yes", "quote": "I"},
        {"answer": "yes", "quote": "vault"},
        {"answer": "yes"},
        {"answer": "maybe"},
        {"verdict": "yes"},
        ["yes"],
        "yes",
    ],
)
def test_an_answer_that_does_not_hold_is_void(tmp_path: Path, answer: object) -> None:
    done = bin("judge", RUBRIC, "-", "--cache", tmp_path / "judge.tsv", stdin=MESSAGE, env=_answering(tmp_path, answer))
    assert done.returncode == 2
    assert one_line(done.stderr).startswith("judge: judge-error: ")
    assert not (tmp_path / "judge.tsv").exists()


def test_a_quote_may_run_over_a_line_break(tmp_path: Path) -> None:
    env = _answering(tmp_path, {"answer": "yes", "quote": "I fixed it. Shall I note"})
    assert bin("judge", RUBRIC, "-", stdin=MESSAGE, env=env).returncode == 0


def test_an_empty_message_is_no_without_a_call(tmp_path: Path) -> None:
    done = bin("judge", RUBRIC, "-", stdin=" \n", env=_answering(tmp_path, YES))
    assert done.stdout.split("\t")[2] == "no"
    assert _asks(tmp_path) == 0


def test_the_cache_answers_the_same_question_once(tmp_path: Path) -> None:
    env, cache = _answering(tmp_path, YES, NO, NO), tmp_path / "judge.tsv"
    first = bin("judge", RUBRIC, "-", "--cache", cache, stdin=MESSAGE, env=env).stdout
    assert bin("judge", RUBRIC, "-", "--cache", cache, stdin=MESSAGE, env=env).stdout == first
    assert _asks(tmp_path) == 1
    bin("judge", RUBRIC, "-", "--cache", cache, stdin=MESSAGE + " Or not.", env=env)
    assert _asks(tmp_path) == 2


@pytest.mark.parametrize(
    ("answers", "answer", "votes"),
    [
        ((YES, NO, YES), "yes", "yes,no,yes"),
        ((NO, YES, NO), "no", "no,yes,no"),
        ((YES, NO, {"answer": "abstain"}), "abstain", "yes,no,abstain"),
        ((YES, "what", YES), "yes", "yes,void,yes"),
    ],
)
def test_votes_are_all_asked_and_the_majority_decides(
    tmp_path: Path, answers: tuple[object, ...], answer: str, votes: str
) -> None:
    done = bin("judge", RUBRIC, "-", stdin=MESSAGE, env={**_answering(tmp_path, *answers), "JUDGE_VOTES": "3"})
    assert done.stdout.rstrip("\n").split("\t")[2::3] == [answer, votes]
    assert _asks(tmp_path) == 3


def test_a_void_vote_that_could_have_decided_leaves_no_answer(tmp_path: Path) -> None:
    done = bin("judge", RUBRIC, "-", stdin=MESSAGE, env={**_answering(tmp_path, YES, "what", NO), "JUDGE_VOTES": "3"})
    assert (done.returncode, done.stdout) == (2, "")
    assert one_line(done.stderr).startswith("judge: judge-error: ")


def test_two_scripts_of_one_interpreter_are_two_judges(tmp_path: Path) -> None:
    for name, answer in (("a", "no"), ("b", "abstain")):
        (tmp_path / name).write_text(f"""echo '{{"answer": "{answer}"}}'""")
    cache = tmp_path / "judge.tsv"
    said = [
        bin("judge", RUBRIC, "-", "--cache", cache, stdin=MESSAGE, env={"HELDOUT_JUDGE_CMD": f"sh {tmp_path}/{name}"})
        for name in ("a", "b", "a")
    ]
    assert [done.stdout.split("\t")[2] for done in said] == ["no", "abstain", "no"]


def test_an_even_number_of_votes_is_refused(tmp_path: Path) -> None:
    done = bin("judge", RUBRIC, "-", stdin=MESSAGE, env={**_answering(tmp_path, YES), "JUDGE_VOTES": "2"})
    assert done.returncode == 2 and "use an odd number" in one_line(done.stderr)


def test_the_suites_own_variable_comes_first(tmp_path: Path) -> None:
    env = {**_answering(tmp_path, NO), "OS_VAULT_EVAL_JUDGE_CMD": 'echo \'{"answer": "abstain"}\''}
    assert bin("judge", RUBRIC, "-", stdin=MESSAGE, env=env).stdout.split("\t")[2] == "abstain"
    assert _asks(tmp_path) == 0


def test_no_judge_is_one_line_with_the_mend() -> None:
    done = bin("judge", RUBRIC, "-", stdin=MESSAGE, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 2
    assert "HELDOUT_JUDGE_CMD" in one_line(done.stderr)


def test_unknown_rubric_suggests_the_near_miss() -> None:
    done = bin("judge", "vault-write/vault-ofer", "-", stdin=MESSAGE)
    assert (
        one_line(done.stderr)
        == "judge: unknown rubric 'vault-write/vault-ofer'; did you mean 'vault-write/vault-offer'?"
    )


def test_calibration_counts_agreement_and_kappa(tmp_path: Path) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text("label\tmessage\nyes\tShall I note it?\nyes\tShall I note it, too?\nno\tDone.\nno\tAll done.\n")
    env = _answering(tmp_path, {"answer": "yes", "quote": "Shall I"}, NO, NO, {"answer": "yes", "quote": "not there"})
    done = bin("judge", RUBRIC, "--calibrate", labels, env=env)
    assert done.returncode == 0, done.stderr
    table = [line.split("\t") for line in done.stdout.splitlines()]
    assert ["accuracy", "0.500"] in table  # yes→yes, yes→no, no→no, no→void
    # p_o = 2/4; p_e = (2·1 + 2·2) / 16 = 0.375; kappa = 0.125 / 0.625
    assert ["kappa", "0.200"] in table
    assert ["no", "void", "1"] in table

"""The client as a judge: isolated, structured, and named by the model that answered."""

from pathlib import Path

import pytest
from heldout.agents.script import Actor, Call, Turn
from heldout.agents.stub import Part, Stub
from programs import bin, one_line

MESSAGE = "Fixed. Shall I note the page limit in the vault?"


def _playing(**said: str) -> Stub:
    return Stub(Part(Actor("judge", turns=(Turn(calls=(Call("StructuredOutput", said),)), Turn("done"))), {}))


def _ask(stub: Stub) -> tuple[int, str, str]:
    env = {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": "stub-key"}
    done = bin("judge", "vault-write/vault-offer", "-", stdin=MESSAGE, env=env)
    return done.returncode, done.stdout, done.stderr


def test_the_clients_structured_answer_is_taken() -> None:
    with _playing(answer="yes", quote="Shall I note the page limit") as stub:
        status, out, error = _ask(stub)
    assert status == 0, error
    assert one_line(out).split("\t")[2:5] == ["yes", "Shall I note the page limit", "claude-haiku-5-5"]


@pytest.mark.parametrize("said", [{"answer": "yes", "quote": "never said"}, {"answer": "perhaps", "quote": ""}])
def test_an_answer_that_does_not_hold_is_void(said: dict[str, str]) -> None:
    with _playing(**said) as stub:
        status, out, error = _ask(stub)
    assert (status, out) == (2, "")
    assert one_line(error).startswith("judge: judge-error: ")


def test_a_judge_whose_api_fails_is_a_judge_error(tmp_path: Path) -> None:
    from heldout.agents.stubbing import failures

    with Stub(Part(Actor("judge", turns=(Turn("x"),)), {}, failures.parse("529"))) as stub:
        status, _, error = _ask(stub)
    assert status == 2
    assert "judge-error: the judge failed" in one_line(error)

"""The failures that the stub of the Messages API plays, one by one and together, and their textual form."""

import http.client
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from heldout.agents.stub import Request, Stub
from heldout.agents.stubbing import failures
from heldout.agents.stubbing.failures import Failure
from heldout.errors import Refusal
from hypothesis import given
from hypothesis import strategies as st
from stubbing import PLACES, REMINDER, SID, TASK, TURNS, actor, inputs, said, send, texts


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as running:
        yield running


@pytest.mark.parametrize(("status", "kind"), failures.STATUSES.items())
def test_a_status_is_played_from_a_step_on(stub: Stub, tmp_path: Path, status: str, kind: str) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse(f"{status}=3@1x2"))
    history = [TASK, *said(send(stub, [TASK]).message)]
    for _ in range(2):
        answer = send(stub, history)
        assert (answer.status, answer.error["type"]) == (int(status), kind)
        assert answer.headers["retry-after"] == "3"
    assert texts(send(stub, history).message) == ["In between."]
    assert [request.played for request in stub.requests(SID)] == [(), (status,), (status,), ()]


def test_without_times_a_failure_is_played_always(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse("500"))
    assert [send(stub, [TASK]).status for _ in range(5)] == [500] * 5
    assert "retry-after" not in send(stub, [TASK]).headers


@pytest.mark.parametrize(
    ("kind", "heard", "stop"),
    [
        ("empty", [], "end_turn"),
        ("max_tokens", ["I look at /sa"], "max_tokens"),
        ("refusal", ["I look at /sa"], "refusal"),
    ],
)
def test_a_message_cut_short_is_followed_by_the_whole(
    stub: Stub, tmp_path: Path, kind: str, heard: list[str], stop: str
) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse(f"{kind}@0x2"))
    history = [TASK]
    for _ in range(2):
        short = send(stub, history).message
        assert (texts(short), inputs(short), short["stop_reason"]) == (heard, [], stop)
        history += [*(said(short) if heard else []), REMINDER]
    whole = send(stub, history).message
    assert (texts(whole), len(inputs(whole))) == (["I look at /sandbox/project."], 2)
    assert texts(send(stub, [*history, *said(whole)]).message) == ["In between."]


def test_a_cut_message_ends_within_a_block(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse("cut@0x1,cut=2@0x1"))
    first, second = send(stub, [TASK]), send(stub, [TASK])
    assert first.broken and second.broken
    assert [event["type"] for event in first.events] == ["message_start", "content_block_start", "content_block_delta"]
    kinds = [event["type"] for event in second.events]
    assert (kinds.count("content_block_start"), kinds.count("content_block_stop")) == (3, 2)


def test_what_a_cut_left_behind_is_no_step(stub: Stub, tmp_path: Path) -> None:
    """The client keeps the whole blocks of a cut message: text is asked for once more, a call was made."""
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse("cut=2@0x1,cut=2@1x1,cut=1@2x1"))
    assert send(stub, [TASK]).broken
    left = {"role": "assistant", "content": [{"type": "text", "text": "I look at /sandbox/project."}]}
    first = send(stub, [TASK, left, REMINDER]).message
    assert len(inputs(first)) == 2
    history = [TASK, left, REMINDER, *said(first)]
    cut = send(stub, history)
    assert cut.broken
    use = next(event["content_block"] for event in cut.events if event.get("index") == 1)
    history += said({"content": [{**use, "input": {"command": "echo two"}}]})
    assert send(stub, history).broken
    history += [{"role": "assistant", "content": [{"type": "text", "text": "All is said."}]}, REMINDER]
    last = send(stub, history).message
    send(stub, [*history, *said(last)])
    assert [request.step for request in stub.requests(SID)] == [0, 0, 1, 2, 2, 3]


def test_a_cut_answer_that_does_not_stream_is_no_json(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse("cut"))
    answer = send(stub, [TASK], stream=False)
    assert answer.broken
    with pytest.raises(ValueError, match=r"."):
        json.loads(answer.body)


def test_a_hanging_answer_ends_with_the_stub(tmp_path: Path) -> None:
    noted = threading.Event()
    with Stub(tell=lambda _: noted.set()) as stub:
        stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse("hang@0x1"))
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(send, stub, [TASK])
            assert noted.wait(60)
            assert stub.requests(SID) == [Request(SID, "", "/v1/messages?beta=true", 0, 0, ("hang",))]
            assert texts(send(stub, [TASK]).message)  # others are served meanwhile
            assert not waiting.done()
            stub.close()
            with pytest.raises(http.client.RemoteDisconnected):
                waiting.result()


def test_failures_are_played_together(stub: Stub, tmp_path: Path) -> None:
    text = "model=claude-haiku-5-5,slow=0.01,max_tokens@0x1,empty@0x1,529x1,429x1,cut=9@1"
    stub.expect(SID, actor(TURNS, tmp_path), PLACES, failures.parse(text))
    assert [send(stub, [TASK]).status for _ in range(2)] == [529, 429]
    short = send(stub, [TASK]).message
    assert (short["model"], short["stop_reason"]) == ("claude-haiku-5-5", "max_tokens")
    assert send(stub, [TASK]).message["content"] == []
    whole = send(stub, [TASK]).message
    assert (whole["model"], len(inputs(whole))) == ("claude-haiku-5-5", 2)
    assert send(stub, [TASK, *said(whole)]).broken
    assert [request.played for request in stub.requests(SID)] == [
        ("529",),
        ("429",),
        ("model", "slow", "max_tokens"),
        ("model", "slow", "empty"),
        ("model", "slow"),
        ("model", "slow", "cut"),
    ]


def test_the_textual_form() -> None:
    assert failures.parse("529x2, 500@1,429=3,hang@1,cut=1@0x1,slow=0.2,model=claude-haiku-5-5@2x3,max_tokens") == (
        Failure("529", times=2),
        Failure("500", step=1),
        Failure("429", "3"),
        Failure("hang", step=1),
        Failure("cut", "1", 0, 1),
        Failure("slow", "0.2"),
        Failure("model", "claude-haiku-5-5", 2, 3),
        Failure("max_tokens"),
    )
    assert failures.parse("") == failures.parse(" ") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("529,", "cannot read failure ''; write KIND"),
        ("529x", "cannot read failure '529x'"),
        ("529@x1", "cannot read failure '529@x1'"),
        ("529x2@1", "cannot read failure '529x2@1'"),
        ("hangg@1", "unknown failure 'hangg'; did you mean 'hang'?"),
        ("503", "unknown failure '503'; did you mean '50"),
        ("529x0", "failure '529x0' is never played; leave it out"),
        ("slow", "failure 'slow' needs a number of seconds; such as slow=0.2"),
        ("slow=soon", "failure 'slow=soon' needs a number of seconds"),
        ("model", "failure 'model' needs a model's name"),
        ("429=soon", "failure '429=soon' needs a whole number of seconds to retry after; such as 429=1, or no value"),
        ("cut=x", "failure 'cut=x' needs a whole number of blocks"),
        ("hang=1", "failure 'hang' takes no value; write 'hang'"),
    ],
)
def test_a_textual_form_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        failures.parse(text)
    assert message in str(caught.value)


@given(
    st.lists(
        st.builds(
            Failure,
            st.sampled_from([*failures.STATUSES, "hang", "cut", "empty", "max_tokens", "refusal"]),
            step=st.integers(0, 99),
            times=st.none() | st.integers(1, 99),
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read(items: list[Failure]) -> None:
    written = ",".join(f"{x.kind}@{x.step}" + (f"x{x.times}" if x.times else "") for x in items)
    assert failures.parse(written) == tuple(items)

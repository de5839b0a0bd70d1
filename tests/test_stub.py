"""The stub of the Messages API: which message of which script it serves for a request.

The requests are shaped like the client's own. Those of data/stub/requests.jsonl are the client's (2.1.332, texts
elided), as it sent them for the scripts of data/stub/actors.yaml, with the step that each of them stands for.
"""

import itertools
import json
import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from heldout.agents import script
from heldout.agents.stub import Part, Request, Stub
from heldout.agents.stubbing import failures
from heldout.agents.stubbing import session as played
from heldout.errors import Refusal
from programs import ROOT
from stubbing import (
    MODEL,
    PLACES,
    REMINDER,
    SID,
    TASK,
    TURNS,
    Json,
    actor,
    bash,
    call,
    ids,
    inputs,
    listening,
    said,
    send,
    texts,
)

DATA = ROOT / "tests" / "data" / "stub"
RECORDED = [json.loads(line) for line in (DATA / "requests.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as running:
        yield running


# What is served


def test_a_message_is_streamed_as_the_api_streams_it(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    answer = send(stub, [TASK])
    assert (answer.status, answer.broken) == (200, False)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert re.fullmatch(r"req_01[0-9a-f]{22}", answer.headers["request-id"])
    message = answer.message
    assert re.fullmatch(r"msg_01[0-9a-f]{22}", message["id"])
    assert (message["role"], message["model"], message["stop_reason"]) == ("assistant", MODEL, "tool_use")
    assert message["usage"] == {**script.INPUT, "output_tokens": 77}
    thinking, text, *calls = message["content"]
    assert (thinking["thinking"], bool(thinking["signature"])) == ("where?", True)
    assert text == {"type": "text", "text": "I look at /sandbox/project."}
    assert [block["name"] for block in calls] == ["Bash", "Bash"]
    assert [block["input"] for block in calls] == [
        {"command": f"echo {MODEL}"},
        {"command": "echo /plugins/demo {x}"},
    ]
    assert all(re.fullmatch(r"toolu_01[0-9a-f]{22}", block["id"]) for block in calls)
    assert len(set(ids(message))) == 2


def test_a_request_that_does_not_stream_gets_the_message_whole(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    streamed = send(stub, [TASK]).message
    whole = send(stub, [TASK], stream=False)
    assert whole.headers["content-type"] == "application/json"
    assert whole.json["content"][:2] == streamed["content"][:2]
    assert inputs(whole.json) == inputs(streamed)
    assert (whole.json["stop_reason"], whole.json["usage"]) == ("tool_use", streamed["usage"])


def test_steps_follow_the_history_and_the_last_words_are_said_again(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    history, heard = [TASK], []
    for _ in range(5):
        message = send(stub, history).message
        heard.append(texts(message))
        history += [*said(message), REMINDER]
    assert heard == [["I look at /sandbox/project."], ["In between."], *[["All is said.\n"]] * 3]
    assert [request.step for request in stub.requests(SID)] == [0, 1, 2, 3, 4]


def test_ids_are_those_of_session_and_step(stub: Stub, tmp_path: Path) -> None:
    other = SID.replace("1", "9")
    for session in (SID, other):
        stub.expect(session, actor(TURNS, tmp_path), PLACES)
    first, elsewhere = send(stub, [TASK]).message, send(stub, [TASK], session=other).message
    with Stub() as again:
        again.expect(SID, actor(TURNS, tmp_path), PLACES)
        assert send(again, [TASK]).message == first
    assert first["id"] != elsewhere["id"]
    assert not set(ids(first)) & set(ids(elsewhere))


def test_a_request_sent_again_gets_its_turn_again_as_another_message(stub: Stub, tmp_path: Path) -> None:
    """Two messages of one id would be one in a transcript."""
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    first, again = send(stub, [TASK]).message, send(stub, [TASK]).message
    assert (texts(again), inputs(again)) == (texts(first), inputs(first))
    assert first["id"] != again["id"]
    assert not set(ids(first)) & set(ids(again))
    for message in (first, again):
        assert texts(send(stub, [TASK, *said(message)]).message) == ["In between."]


def test_a_message_that_the_client_rearranged_is_still_one(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    message = send(stub, [TASK]).message
    thinking, text, one, two = message["content"]
    whole = said(message)[1]["content"]
    split = [
        TASK,
        {"role": "assistant", "content": [text]},
        {"role": "assistant", "content": [one]},
        {"role": "user", "content": whole[:1]},
        {"role": "assistant", "content": [thinking, two]},
        {"role": "user", "content": whole[1:]},
    ]
    assert texts(send(stub, split).message) == ["In between."]
    assert texts(send(stub, [TASK, {"role": "assistant", "content": [two, one]}]).message) == ["In between."]


@pytest.mark.parametrize("number", range(4))
def test_what_the_real_client_asked_is_the_step_it_stood_for(stub: Stub, number: int) -> None:
    """Subagents in both places, nested and continued, a fork, a skill, notifications, re-asks after failures."""
    group = [list(items) for _, items in itertools.groupby(RECORDED, lambda item: item["session"])][number]
    first = group[0]
    actors = script.load(DATA / "actors.yaml")
    stub.expect(first["session"], actors[first["actor"]], PLACES, failures.parse(first["failures"]))
    handed: set[str] = set()
    for item in group:
        body = item["body"]
        answer = send(stub, body["messages"], session=item["session"], agent=item["agent"], model=body["model"])
        assert stub.requests(item["session"])[-1] == Request(
            item["session"],
            item["agent"],
            "/v1/messages?beta=true",
            item["step"],
            answer.status,
            tuple(item["played"]),
            *(["the stub was asked to fail"] if answer.status != 200 else []),
        )
        if answer.status == 200 and not answer.broken:
            handed |= set(ids(answer.message))
    known = [block["id"] for item in group for message in item["body"]["messages"] for block in _uses(message)]
    assert known and set(known) <= handed


def _uses(message: Json) -> list[Json]:
    return [block for block in message["content"] if isinstance(block, dict) and block["type"] == "tool_use"]


# Subagents


def spawning(*calls: Json) -> list[Json]:
    return [{"calls": list(calls)}, {"text": "done"}]


def agent(description: str, prompt: str, *turns: Json) -> Json:
    return {"Agent": {"description": description, "prompt": prompt}, "turns": list(turns)}


def prompted(prompt: str) -> list[Json]:
    """A subagent's first request."""
    reminder = {"type": "text", "text": "<system-reminder>\nCount on it\n</system-reminder>\n"}
    return [{"role": "user", "content": [reminder, {"type": "text", "text": prompt}]}]


def test_subagents_are_told_apart_by_their_prompts(stub: Stub, tmp_path: Path) -> None:
    calls = [
        agent("one", "Count", {"text": "one"}),
        agent("two", "Please Count", {"text": "two"}),
        agent("three", "Count on {cwd} with {model}\n", {"text": "three"}),
    ]
    stub.expect(SID, actor(spawning(*calls), tmp_path), PLACES)
    message = send(stub, [TASK]).message
    assert [given["prompt"] for given in inputs(message)][2] == f"Count on /sandbox/project with {MODEL}\n"
    heard = [texts(send(stub, prompted(x["prompt"]), agent=f"a{n}").message) for n, x in enumerate(inputs(message))]
    assert heard == [["one"], ["two"], ["three"]]


def test_an_agent_that_no_call_started_is_an_error(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(spawning(agent("one", "Count", {"text": "one"})), tmp_path), PLACES)
    send(stub, [TASK])
    answer = send(stub, prompted("Something else"), agent="a77")
    assert (answer.status, answer.error["type"]) == (404, "not_found_error")
    assert "'a77'" in answer.error["message"]


def test_a_fork_is_told_from_the_subagent_that_it_copies(stub: Stub, tmp_path: Path) -> None:
    fork = agent("copy", "Go on alone", {"calls": [bash("alone")]}, {"text": "gone on"})
    call = agent("one", "Count", {"text": "I copy myself", "calls": [fork]}, {"text": "counted"})
    stub.expect(SID, actor(spawning(call), tmp_path), PLACES)
    send(stub, [TASK])
    parent = send(stub, prompted("Count"), agent="a1").message
    assert texts(parent) == ["I copy myself"]
    rules = "<fork-boilerplate>\n…\n</fork-boilerplate>\n\nYour directive: Go on alone"
    history = [*prompted("Count"), *said(parent), {"role": "user", "content": [{"type": "text", "text": rules}]}]
    first = send(stub, history, agent="a2").message
    assert inputs(first) == [{"command": "echo alone"}]
    assert texts(send(stub, [*history, *said(first)], agent="a2").message) == ["gone on"]


def test_a_subagent_is_named_by_the_id_that_the_client_gave_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first request may still be under way when the main loop speaks of it: the answer waits for the id."""
    waits = threading.Event()

    class Noting(threading.Condition):
        def wait_for(self, *words: Any, **more: Any) -> Any:
            waits.set()
            return super().wait_for(*words, **more)

    monkeypatch.setattr(played.threading, "Condition", Noting)
    monkeypatch.setattr(played, "SPAWN_WAIT", 600.0)
    to_one = {"SendMessage": {"to": "{agent:one}", "message": "go on"}}
    calls = [agent("one", "Count", {"text": "counted"}), agent("two", "Call", {"calls": [to_one]}, {"text": "called"})]
    turns = [{"calls": calls}, {"calls": [to_one]}, {"text": "done"}]
    with Stub() as stub, ThreadPoolExecutor(1) as pool:
        stub.expect(SID, actor(turns, tmp_path), PLACES)
        history = [TASK, *said(send(stub, [TASK]).message)]
        assert not waits.is_set()  # the message does not speak of them, only the scripts that it starts do
        waiting = pool.submit(send, stub, history)
        assert waits.wait(60)
        assert texts(send(stub, prompted("Count"), agent="a123").message) == ["counted"]
        assert inputs(waiting.result(60).message) == [{"to": "a123", "message": "go on"}]


# Sessions


def test_a_session_that_nobody_registered_is_an_error_that_names_it(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    for session in ("nobody", ""):
        answer = send(stub, [TASK], session=session)
        assert (answer.status, answer.error["type"]) == (404, "not_found_error")
        assert f"'{session}' is not registered" in answer.error["message"]
    assert [request.status for request in stub.requests("nobody")] == [404]


def test_a_default_actor_plays_sessions_that_nobody_registered(tmp_path: Path) -> None:
    told: list[Request] = []
    with Stub(Part(actor(TURNS, tmp_path), PLACES, failures.parse("529x1")), told.append) as stub:
        for session in ("a", "b"):
            assert send(stub, [TASK], session=session).status == 529
            assert texts(send(stub, [TASK], session=session).message) == ["I look at /sandbox/project."]
        assert send(stub, [TASK], session="").status == 404
    assert [(request.session, request.status) for request in told] == [
        ("a", 529),
        ("a", 200),
        ("b", 529),
        ("b", 200),
        ("", 404),
    ]


def test_sessions_at_once_do_not_mix(stub: Stub, tmp_path: Path) -> None:
    def play(number: int) -> list[str]:
        session = f"session-{number}"
        turns = [{"text": f"{number}.{step}", "calls": [bash(f"{number}")]} for step in range(number + 3)]
        (tmp_path / session).mkdir()
        part = actor([*turns, {"text": "end"}], tmp_path / session)
        stub.expect(session, part, PLACES, failures.parse(f"529@1x{number}") if number else ())
        history, heard = [TASK], []
        while heard[-1:] != ["end"]:
            answer = send(stub, history, session=session)
            if answer.status == 200:
                heard += texts(answer.message)
                history += said(answer.message)
            else:
                heard.append(str(answer.status))
        return heard

    with ThreadPoolExecutor(8) as pool:
        for number, heard in enumerate(pool.map(play, range(8))):
            steps = [f"{number}.{step}" for step in range(number + 3)]
            assert heard == [steps[0], *["529"] * number, *steps[1:], "end"]


def test_a_script_that_the_client_cannot_play_is_refused_before_it_starts(stub: Stub, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"'\{plugin:demo\}' of actor 'x' stands for nothing"):
        stub.expect(SID, actor(TURNS, tmp_path), {"cwd": "/c"})
    with pytest.raises(Refusal, match="leaves an empty transcript"):
        stub.expect(SID, script.COMMON["empty"], PLACES)
    stub.expect(SID, actor(TURNS, tmp_path), PLACES)
    with pytest.raises(Refusal, match="registered with the stub already"):
        stub.expect(SID, actor(TURNS, tmp_path), PLACES)


def test_an_actor_that_ends_with_an_api_error_gets_one_after_its_last_turn(stub: Stub, tmp_path: Path) -> None:
    stub.expect(SID, actor([{"calls": [bash("one")]}], tmp_path, ends="api_error"), PLACES)
    history = [TASK, *said(send(stub, [TASK]).message)]
    assert [send(stub, history).status for _ in range(2)] == [529, 529]


# Anything else


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("HEAD", "/v1/messages"), ("POST", "/v1/complete"), ("PUT", "/v1/messages")]
)
def test_every_other_request_is_not_found(stub: Stub, method: str, path: str) -> None:
    answer = call(stub.port, method, path, "{}" if method != "GET" else "")
    assert answer.status == 404
    assert answer.headers["content-type"] == "application/json"
    assert method == "HEAD" or answer.error["type"] == "not_found_error"


@pytest.mark.parametrize("body", ["", "{", "[]", '{"model": "m"}', '{"messages": []}'])
def test_a_body_that_asks_for_no_message_is_an_invalid_request(stub: Stub, body: str) -> None:
    answer = call(stub.port, "POST", "/v1/messages?beta=true", body, {"X-Claude-Code-Session-Id": SID})
    assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")


def test_tokens_are_counted_if_asked(stub: Stub) -> None:
    assert call(stub.port, "POST", "/v1/messages/count_tokens?beta=true", "x" * 400).json == {"input_tokens": 100}


def test_it_listens_on_loopback_and_asks_no_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> str:
        raise AssertionError("a name was looked up")

    monkeypatch.setattr(socket, "getfqdn", refuse)
    monkeypatch.setattr(socket, "gethostbyaddr", refuse)
    with Stub() as stub:
        assert stub.url == f"http://127.0.0.1:{stub.port}"
        assert listening(stub.port) == {"0100007F"}

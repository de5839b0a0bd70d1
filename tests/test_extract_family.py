"""Finding the files of a session: subagents wherever a version put them, folders, cells."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from extracting import DATA, SESSION, Session, native, said, stream
from heldout.errors import Fault
from heldout.transcript.reader import extract


def main(text: str = "done", session: str = SESSION) -> Session:
    built = Session(session=session)
    built.user("go")
    built.ends(text)
    return built


def agent(name: str, output: int = 5, session: str = SESSION) -> Session:
    built = Session(session=session, agent=name)
    built.says(f"msg_{name}", said("report"), stop="end_turn", output=output)
    return built


def agents(facts: dict[str, Any]) -> list[str]:
    return [a["id"] for a in facts["agents"]]


def test_trap6b_agents_of_2_0_lie_beside_the_session_with_its_id(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    agent("a3ba710").write(tmp_path / "agent-a3ba710.jsonl")
    agent("0ther", session="another").write(tmp_path / "agent-0ther.jsonl")
    facts = extract(path)
    assert agents(facts) == ["a3ba710"]
    assert facts["tokens"]["sidechain"]["output"] == 5


def test_trap6b_an_agent_of_2_0_is_found_however_long_or_damaged_its_first_line_is(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    for name, prompt in (("long", "p" * 300_000), ("cut", "p")):
        built = Session(agent=name)
        built.user(prompt)
        built.says(f"msg_{name}", said("report"), stop="end_turn", output=7)
        built.write(tmp_path / f"agent-{name}.jsonl")
    cut = tmp_path / "agent-cut.jsonl"
    cut.write_bytes(cut.read_bytes()[30:])
    facts = extract(path)
    assert (agents(facts), facts["tokens"]["sidechain"]["output"]) == (["cut", "long"], 14)


@pytest.mark.parametrize("name", ["own", "renamed"])
def test_trap19_a_resumed_session_has_the_agents_of_each_session_that_its_messages_are_of(
    name: str, tmp_path: Path
) -> None:
    resumed = Session(session="old")
    resumed.user("go")
    resumed.ends("one", "msg_1")
    resumed.add({"type": "progress", "data": {"type": "hook_progress"}}, sessionId="another")
    resumed.user("go on", sessionId="own")
    resumed.ends("two", "msg_2", sessionId="own")
    path = resumed.write(tmp_path / f"{name}.jsonl")
    for session in ("old", "own", "another"):
        agent(f"beside-{session}", session=session).write(tmp_path / f"agent-beside-{session}.jsonl")
        agent(f"below-{session}", session=session).write(
            tmp_path / session / "subagents" / f"agent-below-{session}.jsonl"
        )
    assert agents(extract(path)) == ["below-old", "below-own", "beside-old", "beside-own"]


def test_trap6c_agents_of_2_1_lie_below_the_session_with_their_meta(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    below = tmp_path / "s" / "subagents"
    agent("a1").write(below / "agent-a1.jsonl")
    (below / "agent-a1.meta.json").write_text('{"agentType": "Explore"}')
    (below / "agent-a2.meta.json").write_text("not json")
    agent("a2").write(below / "agent-a2.jsonl")
    facts = extract(path)
    assert [(a["id"], a["type"]) for a in facts["agents"]] == [("a1", "Explore"), ("a2", None)]
    assert facts["source"]["files"] == ["s.jsonl", "s/subagents/agent-a1.jsonl", "s/subagents/agent-a2.jsonl"]


def test_report14_report16_report17_workflow_and_nested_agents_are_found_and_journals_are_none(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    below = tmp_path / "s" / "subagents"
    agent("w1").write(below / "workflows" / "wf_1" / "agent-w1.jsonl")
    agent("n1").write(below / "agent-x" / "subagents" / "agent-n1.jsonl")
    (below / "workflows" / "wf_1" / "journal.jsonl").write_text('{"type":"started","key":"k","agentId":"w1"}\n')
    assert sorted(agents(extract(path))) == ["n1", "w1"]


def test_trap6c_compactions_suggestions_and_empty_files_are_no_agents(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    below = tmp_path / "s" / "subagents"
    for name in ("acompact-1", "aprompt_suggestion-2"):
        agent(name).write(below / f"agent-{name}.jsonl")
    (below / "agent-empty.jsonl").write_bytes(b"")
    agent("a1").write(below / "agent-a1.jsonl")
    assert agents(extract(path)) == ["a1"]


def test_an_agents_file_that_cannot_be_read_is_noted_and_the_rest_is_read(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    below = tmp_path / "s" / "subagents"
    agent("a1").write(below / "agent-a1.jsonl")
    (below / "agent-b1.jsonl").write_bytes(b"\0" * 100)
    facts = extract(path)
    assert agents(facts) == ["a1"]
    assert facts["source"]["notes"] == ["s/subagents/agent-b1.jsonl: unreadable-transcript: only NUL bytes"]


def test_report26_an_agents_file_repeats_the_parents_session_id_and_is_told_by_its_name(tmp_path: Path) -> None:
    alone = agent("a1").write(tmp_path / "agent-a1.jsonl")
    facts = extract(alone)
    assert (facts["session"]["id"], agents(facts)) == (SESSION, ["a1"])
    assert facts["tokens"]["main"]["output"] is None, "the main loop was not read"
    assert facts["tokens"]["sidechain"]["output"] == 5


def test_report26_subagents_without_a_session_file_are_refused_with_that_reason(tmp_path: Path) -> None:
    agent("a1").write(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    with pytest.raises(Fault, match="only subagents' transcripts"):
        extract(tmp_path)


def test_a_directory_with_one_session_and_a_projects_folder_with_an_id(tmp_path: Path) -> None:
    projects = tmp_path / "projects"
    main("one", "aaa").write(projects / "-home-dev-a" / "aaa.jsonl")
    main("two", "bbb").write(projects / "-home-dev-b" / "bbb.jsonl")
    agent("b1", session="bbb").write(projects / "-home-dev-b" / "bbb" / "subagents" / "agent-b1.jsonl")
    facts = extract(projects, "bbb")
    assert (facts["answers"]["final_message"], agents(facts)) == ("two", ["b1"])
    assert extract(tmp_path, "aaa")["answers"]["final_message"] == "one", "a CLAUDE_CONFIG_DIR"
    assert extract(projects / "-home-dev-a")["answers"]["final_message"] == "one"
    with pytest.raises(Fault) as caught:
        extract(projects)
    assert caught.value.code == "no-transcript"
    assert "2 sessions in it; name one with --session (aaa, bbb" in caught.value.detail
    with pytest.raises(Fault, match="no session 'ccc'"):
        extract(projects, "ccc")


def test_a_session_is_found_by_the_id_in_its_lines_whatever_its_file_is_called(tmp_path: Path) -> None:
    main("by id", "aaa").write(tmp_path / "full.jsonl")
    main("other", "bbb").write(tmp_path / "other.jsonl")
    assert extract(tmp_path, "aaa")["answers"]["final_message"] == "by id"
    resumed = main("one", "ccc")
    resumed.ends("two", "msg_2", sessionId="ddd")
    resumed.write(tmp_path / "resumed.jsonl")
    assert extract(tmp_path, "ddd")["answers"]["final_message"] == "two"


def test_trap19_a_session_in_several_files_of_which_one_begins_the_other_counts_once(tmp_path: Path) -> None:
    whole = Session()
    whole.says("msg_1", said("one"), output=5)
    whole.write(tmp_path / "first.jsonl")
    whole.says("msg_2", said("two"), stop="end_turn", output=7)
    whole.write(tmp_path / "a-longer.jsonl")
    facts = extract(tmp_path)
    assert facts["tokens"]["main"]["output"] == 12
    assert facts["answers"]["visible_text"] == ["one", "two"]


def test_trap19_other_lines_may_carry_another_sessions_id(tmp_path: Path) -> None:
    session = Session("2.1.17")
    session.add({"type": "progress", "data": {"type": "hook_progress"}}, sessionId="other")
    session.user("go")
    session.ends()
    assert extract(session.write(tmp_path / "x.jsonl"))["session"]["id"] == SESSION


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    main("outside", "aaa").write(tmp_path / "outside" / "aaa.jsonl")
    inside = tmp_path / "inside"
    main("inside", "bbb").write(inside / "bbb.jsonl")
    (inside / "link").symlink_to(tmp_path / "outside")
    assert extract(inside)["session"]["id"] == "bbb"


@pytest.mark.parametrize("name", ["nothing", "empty-folder", "only-text"])
def test_nothing_to_read_is_no_transcript(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty-folder").mkdir()
    (tmp_path / "only-text").mkdir()
    (tmp_path / "only-text" / "readme.txt").write_text("x")
    with pytest.raises(Fault) as caught:
        extract(tmp_path / name)
    assert caught.value.code == "no-transcript"


def test_a_link_that_leads_nowhere_is_told_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "file").write_text("x")
    for name, detail in (
        ("loop.jsonl", "a link that leads back to itself"),
        ("loop.jsonl/x", "a link that leads back to itself"),
        ("dangling.jsonl", f"a link to '{tmp_path / 'gone'}', which does not exist"),
        ("file/x", "not a directory"),
        ("none", "no such file or directory"),
    ):
        with pytest.raises(Fault) as caught:
            extract(tmp_path / name)
        assert (caught.value.code, caught.value.detail) == ("no-transcript", detail)


def test_a_link_that_leads_nowhere_does_not_spoil_the_folder_it_lies_in(tmp_path: Path) -> None:
    path = main().write(tmp_path / "s.jsonl")
    agent("a1").write(tmp_path / "agent-a1.jsonl")
    for name in ("agent-loop", "loop", "dangling"):
        (tmp_path / f"{name}.jsonl").symlink_to("gone" if name == "dangling" else f"{name}.jsonl")
    assert agents(extract(path)) == agents(extract(tmp_path)) == ["a1"]


def test_names_that_are_no_utf8_are_escaped_in_the_facts(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xffodd")
    path = main().write(tmp_path / f"{odd}.jsonl")
    path.write_bytes(path.read_bytes() + b"{\n")
    agent("x").write(tmp_path / odd / "subagents" / f"agent-{odd}.jsonl")
    (tmp_path / odd / "subagents" / f"agent-{odd}2.jsonl").write_bytes(b"\0")
    facts = extract(path)
    orjson.dumps(facts)
    assert facts["source"]["files"] == [r"\xffodd.jsonl", r"\xffodd/subagents/agent-\xffodd.jsonl"]
    assert facts["source"]["bad"][0]["file"] == r"\xffodd.jsonl"
    assert facts["source"]["notes"][0].startswith(r"\xffodd/subagents/agent-\xffodd2.jsonl: ")
    assert agents(facts) == [r"\xffodd"]
    shutil.copy(stream("01-hello"), path)
    assert extract(path)["source"]["files"] == extract(tmp_path)["source"]["files"] == [r"\xffodd.jsonl"]


def test_names_of_a_cells_files_that_are_no_utf8_are_escaped_in_the_facts(tmp_path: Path) -> None:
    session = Session()
    session.answers(session.calls_tool("Bash", {"command": "cat src/*"}), "text of a file")
    session.ends()
    session.write(tmp_path / "session" / "s.jsonl")
    rows = ["path\tkind\tmode\tsha256", "dev/project/src/\udcff\tfile\t644\tx"]
    (tmp_path / "start.tsv").write_text("\n".join([*rows, ""]), "utf-8", "surrogateescape")
    facts = extract(tmp_path)
    orjson.dumps(facts)
    assert facts["bytes_read"]["by_path"] == {r"/home/dev/project/src/\xff": 14}


def pretty(lines: list[dict[str, Any]], between: str = "\n") -> bytes:
    return between.join(json.dumps(line, indent=2) for line in lines).encode() + b"\n"


@pytest.mark.parametrize("between", ["\n", "\n\n", " ", ""])
def test_records_over_several_lines_are_read_as_those_on_one_line_each(between: str, tmp_path: Path) -> None:
    session = Session()
    session.answers(session.calls_tool("Bash", {"command": "echo '{' \ud800"}), "é {}")
    session.ends('done }{ "x"')
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + pretty(session.lines, between))
    facts = extract(path, SESSION)
    assert facts["source"]["complete"]
    assert facts["answers"]["final_message"] == 'done }{ "x"'
    assert facts["bytes_read"]["main"] == 5
    path.write_text("".join(f"{json.dumps(line)}\n" for line in session.lines))
    assert extract(path)["actions"] == facts["actions"]


def test_of_records_over_several_lines_a_damaged_one_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session = main()
    path.write_bytes(pretty(session.lines)[:-60])
    facts = extract(path)
    assert (facts["session"]["id"], facts["source"]["bad_lines"], facts["source"]["truncated"]) == (SESSION, 1, True)


def test_what_is_no_claude_code_transcript_over_several_lines_is_refused_by_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pretty([{"type": "session_meta", "payload": {}}, {"type": "event_msg", "payload": {}}]))
    with pytest.raises(Fault, match="Codex rollout, not a Claude Code transcript"):
        extract(path)
    path.write_bytes(pretty([{"a": 1}, {"b": {}}]))
    with pytest.raises(Fault, match="no record of a Claude Code transcript in it"):
        extract(path)
    path.write_bytes(pretty([*main().lines, *main("x" * (9 << 20)).lines]))
    with pytest.raises(Fault, match="more than 8 MB of JSON over several lines; write one record a line, as 'jq -c"):
        extract(path)


def test_a_path_that_no_system_has_is_a_fault(tmp_path: Path) -> None:
    for path in ("a\0b", str(tmp_path / ("x" * 5_000))):
        with pytest.raises(Fault):
            extract(path)


@pytest.mark.parametrize("case", ["02-tools", "03-sub"])
@pytest.mark.parametrize("name", ["transcript.jsonl", "other.jsonl"])
@pytest.mark.parametrize("kept", [native, stream])
def test_a_folder_with_one_file_is_read_as_that_file_is_whatever_its_name_and_format(
    case: str, name: str, kept: Callable[[str], Path], tmp_path: Path
) -> None:
    shutil.copy(kept(case), tmp_path / name)
    facts = extract(tmp_path / name)
    assert extract(tmp_path) == facts
    assert extract(tmp_path, facts["session"]["id"]) == facts


def test_a_native_transcript_of_a_streams_name_is_read_with_what_lies_beside_it(tmp_path: Path) -> None:
    main("one", "aaa").write(tmp_path / "transcript.jsonl")
    agent("a1", session="aaa").write(tmp_path / "agent-a1.jsonl")
    assert agents(extract(tmp_path)) == ["a1"]
    main("two", "bbb").write(tmp_path / "session" / "bbb.jsonl")
    with pytest.raises(Fault, match="2 sessions in it"):
        extract(tmp_path)


def test_several_streams_of_one_session_are_not_summed_up(tmp_path: Path) -> None:
    for name in ("first", "second"):
        shutil.copy(stream("01-hello"), tmp_path / f"{name}.jsonl")
    with pytest.raises(Fault, match="2 stream-json files of one session in it; name one, such as 'first"):
        extract(tmp_path)


# Cells


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "03-sub", tmp_path / "r1"))


def test_a_cell_without_its_stream_is_read_from_the_native_files(cell: Path) -> None:
    (cell / "transcript.jsonl").unlink()
    facts = extract(cell)
    assert (facts["source"]["format"], facts["session"]["plugins"], len(facts["spawns"])) == ("native", None, 8)


def test_a_cell_without_native_files_is_read_from_its_stream(cell: Path) -> None:
    shutil.rmtree(cell / "session")
    facts = extract(cell)
    assert (facts["source"]["format"], len(facts["spawns"])) == ("stream-json", 8)
    (cell / "session").mkdir()
    assert extract(cell)["source"]["format"] == "stream-json"


def test_a_cell_whose_stream_is_empty_falls_back_and_says_so(cell: Path) -> None:
    (cell / "transcript.jsonl").write_bytes(b"")
    facts = extract(cell)
    assert (facts["source"]["format"], facts["source"]["notes"]) == ("native", ["empty-transcript: 0 bytes"])
    shutil.rmtree(cell / "session")
    with pytest.raises(Fault) as caught:
        extract(cell)
    assert caught.value.code == "empty-transcript"


def test_a_cell_whose_native_file_is_spoilt_falls_back_on_its_stream(cell: Path) -> None:
    next((cell / "session").glob("*.jsonl")).write_bytes(b"\0" * 64)
    facts = extract(cell)
    assert (facts["source"]["format"], facts["ended"]) == ("stream-json", "completed")
    assert "only NUL bytes" in facts["source"]["notes"][0]


def test_both_formats_of_a_run_tell_the_same_story() -> None:
    """What both can know must agree: calls, results, denials, answers, spawns, endings, totals."""
    for case in ("02-tools", "03-sub", "04b-root-default", "07a-maxturns", "07b-budget", "09e-bgbash", "14a-submodel"):
        one, other = extract(native(case)), extract(stream(case))
        for facts in (one, other):
            facts["actions"].sort(key=lambda a: a["id"])
            for action in facts["actions"]:
                del action["line"], action["n"]
            for spawn in facts["spawns"]:
                del spawn["line"], spawn["output_tokens"]
        for key in ("actions", "spawns", "answers", "ended", "bytes_read"):
            assert one[key] == other[key], (case, key)
        assert one["tokens"]["main"] == other["tokens"]["main"]


@pytest.mark.parametrize("case", ["20c-slash", "11a-hooks-all", "05a-529x2"])
@pytest.mark.parametrize("left_out", [0, 2])
def test_trap19_what_a_copy_of_a_session_repeats_counts_once(case: str, left_out: int, tmp_path: Path) -> None:
    """One file is the beginning of the next; or its rows were appended to it again (report 31)."""
    path = native(case)
    rows = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "a").mkdir()
    expected = extract(shutil.copy(path, tmp_path / "a" / path.name))
    again = tmp_path / "again.jsonl"
    again.write_bytes(b"".join(rows + rows[: len(rows) - left_out]))
    copies = tmp_path / "b"
    copies.mkdir()
    (copies / path.name).write_bytes(b"".join(rows))
    (copies / f"0-{path.name}").write_bytes(b"".join(rows[: len(rows) - left_out]))
    for facts in (extract(again), extract(copies)):
        for name in ("hooks", "counts", "tokens"):
            assert facts[name] == expected[name]
        spelt = [[command["spelt"] for command in found["slash_commands"]] for found in (facts, expected)]
        assert spelt[0] == spelt[1]


@pytest.mark.parametrize("closed", ["agent-a1.jsonl", f"{SESSION}.jsonl", "transcript.jsonl"])
def test_a_file_that_cannot_be_opened_does_not_spoil_the_others(
    closed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may open everything, so the system's refusal is made here."""
    main().write(tmp_path / "session" / f"{SESSION}.jsonl")
    agent("a1").write(tmp_path / "session" / SESSION / "subagents" / "agent-a1.jsonl")
    shutil.copy(stream("02-tools"), tmp_path / "transcript.jsonl")
    opened = Path.open

    def refuse(path: Path, *words: Any, **named: Any) -> Any:
        if path.name == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *words, **named)

    monkeypatch.setattr(Path, "open", refuse)
    facts = extract(tmp_path)
    assert closed not in " ".join(facts["source"]["files"])
    assert any("permission denied" in note for note in facts["source"]["notes"])

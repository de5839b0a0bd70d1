"""The tools of the embedded agent: Read, Write, Edit, Bash and Skill do and say what the client's do."""

import os
from pathlib import Path
from typing import Any

import pytest
from acting import Line, Played, bash, calls, each, hook, play, plugin, settings


def edit(old: str, new: str, file: str = "{cwd}/f", **more: Any) -> Line:
    return {"Edit": {"file_path": file, "old_string": old, "new_string": new, **more}}


def read(file: str, **more: Any) -> Line:
    return {"Read": {"file_path": "{cwd}/" + file, **more}}


def write(file: str, content: str) -> Line:
    return {"Write": {"file_path": "{cwd}/" + file, "content": content}}


def project(tmp_path: Path, **files: str | bytes) -> Path:
    folder = tmp_path / "work" / "project"
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def test_reading(tmp_path: Path) -> None:
    project(tmp_path, f="alpha\nbeta\n", none="", bare="x", dos=b"\xef\xbb\xbfa\r\nb\r\n", bad=b"a\xffb\n")
    items = [
        read("f"),
        read("f", offset=2, limit=1),
        read("f", offset=9),
        read("none"),
        read("bare"),
        read("dos"),
        read("bad"),
        read("gone"),
        {"Read": {"file_path": "{cwd}"}},
        {"Read": {"file_path": "f"}},
    ]
    played = play(tmp_path, each(*items))
    warning = "<system-reminder>Warning: the file exists but"
    assert played.texts() == [
        "1\talpha\n2\tbeta\n3\t",
        "2\tbeta",
        f"{warning} is shorter than the provided offset (9). The file has 3 lines.</system-reminder>",
        f"{warning} the contents are empty.</system-reminder>",
        "1\tx",
        "1\ta\n2\tb\n3\t",
        "1\ta\ufffdb\n2\t",
        f"File does not exist. Note: your current working directory is {played.cwd}.",
        f"EISDIR: illegal operation on a directory, read '{played.cwd}'",
        "1\talpha\n2\tbeta\n3\t",
    ]
    assert [block.get("is_error") for block in played.results()] == [None] * 7 + [True, True, None]
    file = played.native_result(0)["file"]
    assert (file["numLines"], file["startLine"], file["totalLines"], file["content"]) == (3, 1, 3, "alpha\nbeta\n")


def test_reading_what_is_too_large(tmp_path: Path) -> None:
    line = "x" * 80 + "\n"
    project(tmp_path, long=line * 2500, huge=line * 3500)
    whole, ranged, huge = play(
        tmp_path, each(read("long"), read("long", offset=100, limit=1500), read("huge"))
    ).results()
    assert whole["content"].count("\n") == 1035  # as many lines as the client shows of such a file
    assert "exceeds maximum allowed tokens (25000)" in ranged["content"]
    assert huge["content"].startswith("File content (276.9KB) exceeds maximum allowed size (256KB).")
    assert ranged["is_error"]
    assert huge["is_error"]


def test_writing(tmp_path: Path) -> None:
    folder = project(tmp_path, old="a\n", tool="x\n")
    (folder / "tool").chmod(0o755)
    (folder / "link").symlink_to("old")
    before = (folder / "old").stat().st_ino
    items = [
        write("deep/new", "é\r\n"),
        write("old", "b\n"),
        write("tool", "y\n"),
        write("link", "z"),
        write("deep", "z"),
    ]
    played = play(tmp_path, each(*items))
    assert (folder / "deep/new").read_bytes() == "é\r\n".encode()
    assert (folder / "old").read_text() == "b\n"
    assert (folder / "old").stat().st_ino != before
    assert os.access(folder / "tool", os.X_OK)
    assert (folder / "link").is_symlink()
    created, updated, _, linked, directory = played.results()
    assert created["content"].startswith(f"File created successfully at: {folder}/deep/new")
    assert updated["content"].startswith(f"The file {folder}/old has been updated successfully.")
    assert "symbolic link" in linked["content"]
    assert directory["content"].startswith(f"<tool_use_error>{folder}/deep is a directory")
    assert played.native_result(0)["type"] == "create"
    result = played.native_result(1)
    assert (result["type"], result["originalFile"]) == ("update", "a\n")
    assert result["structuredPatch"][0]["lines"] == ["-a", "+b"]
    assert (
        len(played.events("system", "permission_denied")) == len(played.events("result")[0]["permission_denials"]) == 1
    )


@pytest.mark.parametrize(
    ("call", "said", "after"),
    [
        (edit("two", "2"), "has been updated successfully.", "one\n2\none\n"),
        (edit("one", "1"), "Found 2 matches of the string to replace, but replace_all is false.", None),
        (edit("one", "1", replace_all=True), "All occurrences were successfully replaced.", "1\ntwo\n1\n"),
        (edit("two", ""), "has been updated successfully.", "one\none\n"),
        (
            edit("none", "x"),
            "<tool_use_error>String to replace not found in file.\nString: none</tool_use_error>",
            None,
        ),
        (edit("x", "x"), "No changes to make: old_string and new_string are exactly the same.", None),
        (edit("", "x"), "Cannot create new file - file already exists.", None),
        (edit("a", "b", "{cwd}/gone"), "File does not exist.", None),
    ],
)
def test_editing(tmp_path: Path, call: Line, said: str, after: str | None) -> None:
    folder = project(tmp_path, f="one\ntwo\none\n")
    played = play(tmp_path, each(call))
    assert said in played.texts()[0]
    assert (folder / "f").read_text() == (after or "one\ntwo\none\n")
    assert played.results()[0].get("is_error") is (None if after else True)
    decided = [line.get("permissionDecision") for line in played.native if "toolUseResult" in line]
    assert bool(decided[0]) == bool(after)  # what fails the checks of the input is never decided on


def test_editing_keeps_line_ends_and_creates(tmp_path: Path) -> None:
    folder = project(tmp_path, f=b"a\r\nb\r\n")
    play(tmp_path, each(edit("a\nb", "A\nB"), edit("", "new\n", "{cwd}/made")))
    assert (folder / "f").read_bytes() == b"A\r\nB\r\n"
    assert (folder / "made").read_text() == "new\n"


@pytest.mark.parametrize(
    ("command", "said", "failed"),
    [
        ("true", "(Bash completed with no output)", False),
        ("echo out; echo err >&2", "out\nerr", False),
        ("printf '\\n\\n  a\\n\\nb\\n\\n'", "  a\n\nb", False),
        ("echo out; exit 3", "Exit code 3\nout", True),
        ("exit 4", "Exit code 4", True),
        ("nosuch", "Exit code 127\n/bin/bash: line 1: nosuch: command not found", True),
        ("echo 'open", "Exit code 2\n/bin/bash: eval: line 1: unexpected EOF while looking for matching `''", True),
        ("cat", "(Bash completed with no output)", False),
        ("printf 'a\\xffb'", "a\ufffdb", False),
    ],
)
def test_commands(tmp_path: Path, command: str, said: str, failed: bool) -> None:
    played = play(tmp_path, each(bash(command)))
    block = played.results()[0]
    assert (block["content"], block["is_error"]) == (said, failed)
    result = played.native_result(0)
    assert result == f"Error: {said}" if failed else result["interrupted"] is False


def test_a_command_that_takes_too_long(tmp_path: Path) -> None:
    played = play(tmp_path, each(bash("echo part; sleep 600", timeout=1000), bash("echo next")))
    assert played.texts() == ["Exit code 143\nCommand timed out after 1s\npart", "next"]


def test_large_outputs(tmp_path: Path) -> None:
    fill = "head -c {} /dev/zero | tr '\\0' x"
    items = [
        bash(fill.format(30000)),
        bash(fill.format(30001)),
        bash(fill.format(40000) + "; exit 4"),
        bash("seq 1 60000"),
    ]
    played = play(tmp_path, each(*items))
    fits, larger, failed, lines = played.texts()
    assert fits == "x" * 30000
    path = Path(played.native_result(1)["persistedOutputPath"])
    head = f"<persisted-output>\nOutput too large (29.3KB). Full output saved to: {path}\n\nPreview (first 2KB):\n"
    assert larger == head + "x" * 2000 + "\n...\n</persisted-output>"
    assert path.read_text() == "x" * 30001
    assert (played.cell / "session" / path.parent.parent.name / "tool-results" / path.name).exists()
    assert played.native_result(1)["persistedOutputSize"] == 30001
    assert len(played.native_result(1)["stdout"]) == 30000
    assert failed.startswith("Exit code 4\nxxx")
    assert "\n\n... [20012 characters truncated] ...\n\n" in failed
    assert len(failed) == 10000 + len("\n\n... [20012 characters truncated] ...\n\n")
    preview = lines.partition("Preview (first 2KB):\n")[2]
    assert preview.removesuffix("\n...\n</persisted-output>").split("\n")[-1].isdigit()
    assert len(preview) < 2030


def test_the_working_directory_is_carried_and_stays_in_the_project(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "sub").mkdir()
    commands = ["cd sub", "pwd", "cd ..; false", "pwd", "cd /tmp && pwd", "pwd"]
    played = play(tmp_path, each(*map(bash, commands), {"Read": {"file_path": "none"}}))
    reset = f"Shell cwd was reset to {folder}"
    assert played.texts()[1:6] == [f"{folder}/sub", "Exit code 1", f"{folder}/sub", f"/tmp\n{reset}", str(folder)]
    assert [line["cwd"] for line in played.native if line["type"] == "user"][2] == f"{folder}/sub"


def test_files_that_cannot_be_had_are_failures_of_the_call(tmp_path: Path) -> None:
    project(tmp_path, f="x\n")
    played = play(tmp_path, each(write("f/below", "x"), {"Read": {"file_path": "/proc/self/mem"}}, bash("echo on")))
    assert [block["is_error"] for block in played.results()] == [True, True, False]
    assert played.texts()[0].startswith("ENOTDIR") or played.texts()[0].startswith("EEXIST")
    assert played.texts()[1].startswith("EIO")


def test_an_agent_that_removes_its_own_folder(tmp_path: Path) -> None:
    settings(tmp_path, {"Stop": [hook("pwd > $TMPDIR/stopped-in")]})
    played = play(tmp_path, each(bash("rm -rf {cwd}"), bash("pwd")))
    assert played.texts()[1].split("\n")[0] == f"{tmp_path}/tmp"
    assert played.ended.how == "completed"


def test_tools_that_the_client_does_not_have(tmp_path: Path) -> None:
    played = play(
        tmp_path, each({"Glob": {"pattern": "*"}}, {"Grep": {"pattern": "x"}}, {"Bash": {"description": "x"}})
    )
    glob, grep, missing = played.texts()
    assert glob.startswith("<tool_use_error>Error: No such tool available: Glob.")
    assert grep.startswith("<tool_use_error>Error: No such tool available: Grep.")
    assert "InputValidationError: Bash failed" in missing
    assert "`command` is missing" in missing
    assert all(block["is_error"] for block in played.results())
    assert not any("permissionDecision" in line for line in played.native)


GREET = """\
---
name: {name}
description: Greets.
---

root=${{CLAUDE_PLUGIN_ROOT}} dir=${{CLAUDE_SKILL_DIR}} all=$ARGUMENTS second=$1
"""


@pytest.fixture
def skilled(tmp_path: Path) -> Path:
    return plugin(
        tmp_path,
        "demo",
        {
            "skills/greet/SKILL.md": GREET.format(name="greet"),
            "skills/bare/SKILL.md": "---\ndescription: no name\n---\nBare.\n",
            "skills/shut/SKILL.md": "---\nname: shut\ndisable-model-invocation: true\n---\nShut.\n",
            "commands/hi.md": "Say hi.\n",
        },
    )


def skill(name: str, **more: str) -> Line:
    return {"Skill": {"skill": name, **more}}


def test_skills(tmp_path: Path, skilled: Path) -> None:
    names = [
        skill("demo:greet", args="Ann Bo"),
        skill("greet", args="Ann Bo"),
        skill("bare"),
        skill("demo:bare", args="x"),
    ]
    played = play(tmp_path, each(*names, skill("shut"), skill("nope"), skill("demo:hi")), plugins=[skilled])
    assert played.texts() == [
        "Launching skill: demo:greet",
        "Launching skill: greet",
        "<tool_use_error>Unknown skill: bare. Did you mean demo:bare? Invoke it by that full name.</tool_use_error>",
        "Launching skill: demo:bare",
        "<tool_use_error>Skill shut cannot be used with Skill tool due to disable-model-invocation</tool_use_error>",
        "<tool_use_error>Unknown skill: nope</tool_use_error>",
        "Launching skill: demo:hi",
    ]
    bodies = [line["message"]["content"][0]["text"] for line in played.native if line.get("isMeta")]
    base = f"Base directory for this skill: {skilled}/skills"
    assert bodies == [
        f"{base}/greet\n\nroot={skilled} dir={skilled}/skills/greet all=Ann Bo second=Bo\n",
        "Skill /greet is already loaded above; instructions unchanged.",
        f"{base}/bare\n\nBare.\n\n\nARGUMENTS: x",
        "Say hi.\n",
    ]
    by_call = {
        line["message"]["content"][0]["input"]["skill"]: line.get("attributionSkill")
        for line in played.native
        if line["type"] == "assistant" and line["message"]["content"][0]["type"] == "tool_use"
    }
    assert by_call["demo:greet"] is None
    assert (by_call["greet"], by_call["shut"]) == ("demo:greet", "demo:bare")
    assert [line["isSynthetic"] for line in played.events("user") if "isSynthetic" in line] == [True] * 4


def test_a_slash_command_as_the_prompt(tmp_path: Path, skilled: Path) -> None:
    played = play(tmp_path, [{"text": "hello"}], plugins=[skilled], prompt="/demo:greet Ann")
    typed, body = [line["message"]["content"] for line in played.native if line["type"] == "user"]
    assert "<command-name>/demo:greet</command-name>\n<command-args>Ann</command-args>" in typed
    assert "all=Ann" in body[0]["text"]
    last = [line for line in played.native if line["type"] == "assistant"][-1]
    assert (last["attributionSkill"], last["attributionPlugin"]) == ("demo:greet", "demo")


def test_programs_of_plugins_come_last_in_the_path(tmp_path: Path) -> None:
    folders = [
        plugin(tmp_path, name, {"bin/which-one": f"#!/bin/sh\necho {name}\n", "bin/ls": "#!/bin/sh\necho mine\n"})
        for name in "ab"
    ]
    played = play(tmp_path, each(bash("which-one; ls; echo $PATH; echo root=$CLAUDE_PLUGIN_ROOT")), plugins=folders)
    first, path, root = played.texts()[0].split("\n")
    assert (first, root) == ("a", "root=")
    assert path.split(":")[-2:] == [f"{folder}/bin" for folder in folders]


def test_calls_of_one_message(tmp_path: Path) -> None:
    played = play(tmp_path, [calls(bash("echo a"), bash("exit 1"), bash("echo c")), {"text": "x"}])
    assert played.texts() == ["a", "Exit code 1", "c"]
    ids = [line["message"]["id"] for line in played.native if line["type"] == "assistant"]
    assert len(set(ids[:3])) == 1


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    played: Played = play(tmp_path, each(bash("cd /tmp"), bash("false"), write("a", "b")))
    assert not list((tmp_path / "tmp").iterdir())
    assert [path.name for path in played.cwd.iterdir()] == ["a"]

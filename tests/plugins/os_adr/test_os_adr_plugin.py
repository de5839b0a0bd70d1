"""The plugin as Claude Code loads it: manifest, hook, skills, programs."""

import ast
import json
import os
import re
import shutil
import stat

import pytest
import yaml

PROGRAMS = ["adr-check", "adr-find", "adr-index", "adr-init", "adr-migrate", "adr-new", "adr-supersede"]
SKILLS = ["create", "find", "init", "migrate", "supersede"]


@pytest.fixture
def hook(plugin):
    """Run the command of hooks.json as the client does; the finished process."""
    config = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    ((matcher,),) = config.values()
    assert list(config) == ["SessionStart"] and matcher["matcher"] == "startup|resume|clear|compact"
    command = matcher["hooks"][0]["command"]

    def start(project, given, cwd=None, **env):
        env = {"CLAUDE_PLUGIN_ROOT": str(plugin), **env}
        return project.run("sh", "-c", command, stdin=given, cwd=cwd or "/", **env)

    return start


def context(done):
    assert (done.returncode, done.stderr) == (0, "")
    output = json.loads(done.stdout)
    # joined by a top-level field the client would drop it: anthropics/claude-code#16538
    assert list(output) == ["hookSpecificOutput"]
    assert set(output["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert output["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    return output["hookSpecificOutput"]["additionalContext"]


def given(cwd, **more):
    return json.dumps(
        {"session_id": "x", "hook_event_name": "SessionStart", "source": "startup", "cwd": str(cwd), **more}
    )


def test_the_hook_tells_a_project_with_adrs(made_log, hook):
    text = context(hook(made_log, given(made_log.root)))
    assert "docs/adr: 4 ADRs" in text and "docs/adr/index.md" in text and len(text) < 2000
    assert all(f"os-adr:{skill}" in text for skill in SKILLS)
    assert context(hook(made_log, "", CLAUDE_PROJECT_DIR=str(made_log.root))) == text
    assert context(hook(made_log, "[not json", CLAUDE_PROJECT_DIR=str(made_log.root))) == text
    assert context(hook(made_log, given("/nowhere"), CLAUDE_PROJECT_DIR=str(made_log.root))) == text


def test_the_hook_counts_adrs_only(empty, hook):
    assert "none so far" in context(hook(empty, given(empty.root)))
    (empty.adr / "README.md").touch()
    (empty.adr / "0001-x.md").touch()
    assert "docs/adr: 1 ADR, " in context(hook(empty, given(empty.root)))


def test_the_hook_finds_the_project_from_a_folder_in_its_repository(log, hook):
    (log.root / ".git").mkdir()
    assert "4 ADRs" in context(hook(log, given(log.root / "lib")))


@pytest.mark.parametrize("stdin", ["", "[]", '{"cwd": 7}', '{"cwd": "/no/such"}', "{"])
def test_the_hook_is_silent_elsewhere_and_never_fails(bare, hook, stdin):
    done = hook(bare, stdin, cwd=bare.root)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_hook_is_silent_without_docs_adr(bare, hook):
    assert hook(bare, given(bare.root)).stdout == ""


def test_the_hook_is_silent_without_python(log, hook):
    tools = log.root / "tools"
    tools.mkdir()
    for name in ("sh", "env"):
        (tools / name).symlink_to(shutil.which(name) or "")
    done = hook(log, given(log.root), PATH=str(tools))
    assert (done.returncode, done.stdout) == (0, "")


def test_the_hook_survives_an_unreadable_folder_and_a_broken_plugin(log, hook, plugin, tmp_path):
    broken = tmp_path / "broken plugin"
    shutil.copytree(plugin, broken)
    assert "4 ADRs" in context(hook(log, given(log.root), CLAUDE_PLUGIN_ROOT=str(broken)))
    shutil.rmtree(broken / "lib")
    done = hook(log, given(log.root), CLAUDE_PLUGIN_ROOT=str(broken))
    assert (done.returncode, done.stdout) == (0, "")


def test_manifest(plugin):
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "os-adr" and re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert isinstance(manifest["author"], dict) and manifest["description"]
    # hooks/hooks.json is loaded by itself; naming it here loads it twice
    assert "hooks" not in manifest


@pytest.mark.parametrize("skill", SKILLS)
def test_front_matter_of_skills_is_read_whole(plugin, skill):
    """jaredrhod/ai-marketing-skills#3: an unquoted ': ' drops all of it; liliMozi/openhanako#2225: so does a BOM"""
    source = (plugin / "skills" / skill / "SKILL.md").read_bytes()
    assert source.startswith(b"---\n") and b"\r" not in source
    _, front, text = source.decode().split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["name"] == skill and 50 < len(fields["description"]) <= 1024
    assert re.fullmatch(
        r"(Bash\([a-z -]+:\*\)|Read|Edit|Glob|Grep)(, (Bash\([a-z -]+:\*\)|Read|Edit|Glob|Grep))*",
        fields["allowed-tools"],
    )
    named = set(re.findall(r"\badr-[a-z]+\b", text.replace("os-adr", "")))
    assert named <= set(PROGRAMS)
    assert set(re.findall(r"os-adr:(\w+)", text)) <= set(SKILLS)


def test_options_that_the_skills_and_the_readme_name_exist(plugin, made_log):
    helps = {name: made_log.ok(name, "--help") for name in PROGRAMS}
    for path in [plugin / "README.md", plugin / "invariants.md", *plugin.glob("skills/*/SKILL.md")]:
        for program, rest in re.findall(r"\b(adr-[a-z]+) ((?:[^`\n]|\\\n)*)", path.read_text()):
            for option in re.findall(r"--[a-z-]+", rest):
                assert option in helps.get(program, ""), (path, program, option)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(plugin, made_log, program):
    path = plugin / "bin" / program
    source = path.read_text()
    assert source.startswith(f'#!/usr/bin/env python3\n"""{program}: ')
    assert os.stat(path).st_mode & stat.S_IXUSR
    wrong = made_log.run(program, "1", "--no-such-option")
    assert wrong.returncode == 2 and wrong.stdout == "" and "--no-such-option" in wrong.stderr


def test_programs_run_from_a_path_with_spaces_and_through_a_link(plugin, log, tmp_path):
    copied = tmp_path / "my plugins" / "os adr"
    shutil.copytree(plugin, copied)
    link = tmp_path / "adr"
    link.symlink_to(copied / "bin" / "adr-check")
    assert log.ok(str(link)) == "4 ADRs, no breach\n"
    assert not list(copied.rglob("__pycache__"))


def test_the_code_is_python_3_9_and_standard_library(plugin):
    allowed = {
        "__future__",
        "argparse",
        "collections",
        "contextlib",
        "datetime",
        "fcntl",
        "fnmatch",
        "json",
        "os",
        "re",
    }
    allowed |= {"re", "signal", "subprocess", "sys", "time", "typing", "unicodedata", "osadr"}
    sources = [*plugin.glob("lib/osadr/*.py"), *plugin.glob("bin/*"), plugin / "hooks" / "session_start.py"]
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 9))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert {module.split(".")[0] for module in modules} <= allowed, path

"""Axis A of adr-unprompted: which calls reach the ADR system, and which only look like it."""

from types import SimpleNamespace
from typing import Any

import pytest
from heldout.checks import adr_access
from heldout.checks.adr_access import Access
from heldout.checks.adr_unprompted import adr_consulted
from heldout.errors import Fault

PROJECT = "/s/work/project"
Call = tuple[str, dict[str, Any]]


def kinds(*calls: Call, agent: str = "main", skills: list[str] | None = None, ok: bool = True) -> list[str]:
    return [access.kind for access in reached(*calls, agent=agent, skills=skills, ok=ok)]


def reached(*calls: Call, agent: str = "main", skills: list[str] | None = None, ok: bool = True) -> list[Access]:
    actions = [{"tool": tool, "agent": agent, "input": given, "ok": ok, **_skill(given)} for tool, given in calls]
    context: Any = SimpleNamespace(
        cwd=PROJECT,
        variables={"HOME": "/h", "PWD": PROJECT},
        facts={"actions": actions, "session": {"skills": skills}},
    )
    return list(adr_access.accesses(context))


def _skill(given: dict[str, Any]) -> dict[str, Any]:
    """What bin/extract adds to a call of a skill: its full name where it could be told."""
    return {"skill": given["full"]} if "full" in given else {}


def bash(command: str) -> Call:
    return ("Bash", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "adr-find --path lib/x.rb",
        "/plugins/os-adr/bin/adr-find x",
        '"${CLAUDE_PLUGIN_ROOT}/bin/adr-new" "A title"',
        "python3 /plugins/os-adr/bin/adr-new T",
        "bash -c 'cd lib && adr-find x'",
        'bash -lc "adr-check"',
        "sh /plugins/os-adr/bin/adr-check",
        "cd sub && ../bin/adr-find x",
        "sudo env A=1 adr-find",
        "timeout 5 adr-find x | head",
        "echo $(adr-find x)",
        "if adr-check; then echo fine; fi",
        "PATH=$PATH:/plugins/bin adr-index",
        "true && (adr-supersede 3 'New')",
        "eval 'adr-find x'",
        "echo x | xargs adr-find",
    ],
)
def test_a_program_counts_however_it_is_called(command: str) -> None:
    assert set(kinds(bash(command))) == {"program"}


@pytest.mark.parametrize(
    "command",
    [
        "cat docs/adr/0001-x.md",
        "ls docs/adr",
        "ls -t docs/adr/ 2>/dev/null | head",
        "ls lib docs/adr test",
        "grep -rn outbox docs/adr",
        "grep -v foo docs/adr/0001-x.md",
        "grep -e foo docs/adr/index.md",
        "sed -n 1,20p docs/adr/index.md",
        "head -n 20 docs/adr/*.md",
        "awk '/Decision/,0' docs/adr/0001-x.md",
        "wc -l < docs/adr/index.md",
        "xargs cat < docs/adr/index.md",
        "find docs/adr -name '*.md'",
        "find . -path './docs/adr/*' -name '*.md'",
        "rg foo docs/adr",
        "cat docs/{adr,notes}/0001-x.md",
        "cat ../project/docs/adr/index.md",
        f"cat {PROJECT}/docs/adr/index.md",
        "diff docs/adr/a.md docs/adr/b.md",
        "cp docs/adr/index.md /tmp",
        "cat docs/adr/index.md > /tmp/x",
        "git show HEAD:docs/adr/0001-x.md",
        "git log --oneline -- docs/adr",
        "git --no-pager grep -n foo -- docs/adr",
        "bash -c 'cat docs/adr/index.md'",
        'for f in docs/adr/*.md; do head -3 "$f"; done',
        "cd docs/adr && ls",
        "cd docs && cat adr/0003*",
        "python3 -c \"print(open('docs/adr/index.md').read())\"",
        "python3 - <<'X'\nprint(open('docs/adr/index.md').read())\nX",
        "cat <<'X' | python3 -\nprint(open('docs/adr/index.md').read())\nX",
        "python3 -c \"from pathlib import Path; print(*(Path('docs')/'adr').glob('0014*'))\"",
        "python3 -c \"import os; print(os.listdir(os.path.join('docs', 'adr')))\"",
        "python3 -c \"import subprocess; subprocess.run(['cat', 'docs/adr/index.md'])\"",
        "python3 -c \"import os; os.system('cat docs/adr/index.md | head')\"",
        "ruby -e 'puts Dir[\"docs/adr/*\"]'",
        "ruby -e 'puts File.read \"docs/adr/index.md\"'",
        "ruby -e 'puts `cat docs/adr/index.md`'",
        "ruby <<'X'\npath = 'docs/adr/index.md' # the list\nputs IO.readlines(path)\nX",
        "bash <<'X'\ncat docs/adr/index.md\nX",
        "rg --files docs/adr",
        "rg -g 'docs/adr/*.md' outbox",
        "rg outbox --glob='docs/adr/**'",
        "cd docs/adr && git ls-files",
        "cd docs/adr && git grep -n outbox",
        "git -C docs/adr grep -n -i reference",
        "git -C docs/adr log --oneline -- .",
        "git -C docs ls-files adr",
        "git show :docs/adr/0001-x.md",
        "git show HEAD~1:docs/adr/0001-x.md",
        "git show $(git rev-parse HEAD):docs/adr/0001-x.md",
        "cd lib && git grep foo -- ':(top)docs/adr'",
        "git log -S reference -- docs/adr",
        "cat docs/*/0014*",
        "cat docs/a*/0014-*.md",
        "head -3 docs/**/*.md",
        "find . -path '*adr*' -name '0014*' -exec cat {} +",
        "find . -path '*/adr/*.md'",
        "find docs -path '*adr/0014*'",
        "find . -regex '.*/adr/.*'",
    ],
)
def test_a_read_of_the_folder_counts(command: str) -> None:
    assert set(kinds(bash(command))) == {"read"}


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn outbox .",
        "grep -rn 'docs/adr' lib",
        "grep -rn foo --exclude-dir=docs/adr .",
        "grep -rn foo --exclude-dir docs/adr .",
        "git grep docs/adr",
        "rg foo --glob '!docs/adr/**'",
        "xargs grep -l docs/adr",
        "timeout 5 grep -rn docs/adr lib",
        "find . -name '*.md'",
        "find . -path ./docs/adr -prune -o -name '*.rb' -print",
        "find . -not -path './docs/adr/*' -name x",
        "ls -R",
        "ls docs",
        "git status",
        "git status --short docs/adr",
        "git add docs/adr",
        "git diff",
        "git log --stat",
        "echo docs/adr/0001-x.md",
        "echo 'see docs/adr'",
        "bash -c 'echo ./docs/adr'",
        "test -d docs/adr",
        "[ -d docs/adr ] && echo yes",
        "which adr-find",
        "command -v adr-find",
        "ls /plugins/os-adr/bin",
        "cat /plugins/os-adr/bin/adr-find",
        "cat docs/adrift.md docs/adr-old/x",
        "sed -i 's#docs/adr#docs/x#' README.md",
        "cd docs/adr/../.. && make test",
        "curl localhost:4567/adr",
        "ruby -e 'puts 2026' # docs/adr",
        "ruby -e 'puts \"no need to look into docs/adr\"'",
        'ruby -e \'puts "docs/adr", File.read("README.md")\'',
        "python3 - <<'X'\n# nothing below docs/adr is looked at\nprint(open('README.md').read())\nX",
        "python3 - <<'X'\np = open('README.md').read()  # not docs/adr\nX",
        "python3 - <<'X'\nprint('docs/adr')\nX",
        "python3 - <<'X'\ns = open('a').read().replace('docs/adr', 'docs/x')\nX",
        'python3 - <<\'X\'\ns = open(\'a\').read() + """\nSee docs/adr/index.md\n"""\nX',
        "python3 -c \"import os; print(os.path.exists('docs/adr'))\"",
        "python3 -c \"x = 'docs/adr'\"",
        "python3 make.py <<'X'\nprint(open('docs/adr/index.md').read())\nX",
        'node -e \'// docs/adr\nrequire("fs").readFileSync("README.md")\'',
        "cat <<'X' > notes.py\nopen('docs/adr/index.md')\nX",
        "git -C docs/adr status",
        "git -C docs/adr log --oneline",
        "git -C docs/adr/../.. ls-files",
        "git grep foo -- ':!docs/adr'",
        "git log -S docs/adr",
        "git log --grep docs/adr",
        "rg -g '!docs/adr/**' foo",
        "ls docs/*",
        "cat docs/*.md docs/b*/x",
        "find . -not -path '*adr*' -name x",
        "find . -path '*/lib/*' -name x",
    ],
)
def test_what_only_passes_by_does_not_count(command: str) -> None:
    assert kinds(bash(command)) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("Read", {"file_path": f"{PROJECT}/docs/adr/0001-x.md"}), ["read"]),
        (("Read", {"file_path": f"{PROJECT}/lib/x.rb"}), []),
        (("Read", {"file_path": "/plugins/os-adr/skills/find/SKILL.md"}), []),
        (("Glob", {"pattern": "docs/adr/*.md"}), ["read"]),
        (("Glob", {"pattern": "**/adr/*.md"}), ["read"]),
        (("Glob", {"pattern": "*.md", "path": f"{PROJECT}/docs/adr"}), ["read"]),
        (("Glob", {"pattern": "**/*.md"}), []),
        (("Glob", {"pattern": "docs/**/*.md"}), []),
        (("Glob", {"pattern": "docs/{adr,rfc}/*.md"}), ["read"]),
        (("Glob", {"pattern": "{docs/adr,lib}/**/*"}), ["read"]),
        (("Glob", {"pattern": "{docs,lib}/**/*"}), []),
        (("Grep", {"pattern": "outbox", "glob": "{lib,docs/adr}/**"}), ["read"]),
        (("Grep", {"pattern": "outbox", "glob": "!docs/adr/**"}), []),
        (("Grep", {"pattern": "outbox", "path": "docs"}), []),
        (("Grep", {"pattern": "outbox", "path": "docs/adr"}), ["read"]),
        (("Grep", {"pattern": "outbox", "glob": "docs/adr/*.md"}), ["read"]),
        (("Grep", {"pattern": "docs/adr", "path": "."}), []),
        (("Grep", {"pattern": "ADR-0009"}), []),
        (("Write", {"file_path": f"{PROJECT}/docs/adr/0022-x.md", "content": ""}), ["write"]),
        (("Edit", {"file_path": f"{PROJECT}/docs/adr/0001-x.md"}), ["write"]),
        (("Write", {"file_path": f"{PROJECT}/DECISIONS.md", "content": "docs/adr"}), []),
        (bash("cat > docs/adr/0022-x.md <<'E'\ntext\nE"), ["write"]),
        (bash("printf x | tee -a docs/adr/0001-x.md"), ["write"]),
        (bash("sed -i s/Proposed/Accepted/ docs/adr/0001-x.md"), ["write"]),
        (bash("cp docs/adr/0001-x.md docs/adr/0022-y.md"), ["read", "write"]),
        (bash("cd docs && mv /tmp/x.md adr/0022-x.md"), ["write"]),
        (("Agent", {"description": "read docs/adr", "prompt": "cat docs/adr/*"}), []),
        (("Skill", {"skill": "os-adr:find", "full": "os-adr:find"}), ["skill"]),
        (("Skill", {"skill": "/os-adr:create now", "full": "os-adr:create"}), ["skill"]),
        (("Skill", {"skill": "find", "full": "os-adr:find"}), ["skill"]),
        (("Skill", {"skill": "os-adr:find"}), ["skill"]),
        (("Skill", {"skill": "migrate"}), ["skill"]),
        (("Skill", {"skill": "os-adr:list", "full": "os-adr:list"}), []),
        (("Skill", {"skill": "commit", "full": "commit"}), []),
        (("Skill", {"skill": "adr-kit:find", "full": "adr-kit:find"}), []),
    ],
)
def test_tools(call: Call, expected: list[str]) -> None:
    assert kinds(call) == expected


def test_a_bare_name_that_belongs_to_another_plugin_is_not_ours() -> None:
    assert kinds(("Skill", {"skill": "find", "full": "find"}), skills=["find", "os-adr:find"]) == []


def test_a_skill_that_another_version_of_the_plugin_has_is_ours() -> None:
    assert kinds(("Skill", {"skill": "os-adr:list"}), skills=["os-adr:list"]) == ["skill"]


def test_a_failed_command_was_a_command_and_a_failed_call_of_another_tool_reached_nothing() -> None:
    read, skill = ("Read", {"file_path": "docs/adr/9.md"}), ("Skill", {"skill": "os-adr:find"})
    assert kinds(bash("adr-find x"), read, skill, ok=False) == ["program"]
    assert kinds(read, skill) == ["read", "skill"]


def test_the_main_loop_keeps_its_folder_and_a_subagent_does_not() -> None:
    calls = (bash("cd docs/adr"), bash("cat 0001-x.md"), bash("cd .. && ls"), bash("cat index.md"))
    assert kinds(*calls) == ["read"]
    assert kinds(*calls, agent="a1") == []
    assert kinds(bash("cd docs/adr && false"), bash("cat 0001-x.md"), ok=False) == []


def test_a_folder_outside_the_project_is_left_again() -> None:
    assert kinds(bash("cd /elsewhere/docs/adr"), bash("cat README.md")) == []


def test_without_a_transcript_only_a_file_in_the_tree_can_tell() -> None:
    def context(changed: list[str]) -> Any:
        scenario = SimpleNamespace(repository="project")
        return SimpleNamespace(scenario=scenario, changed=lambda folder: changed, facts_or_fault=None, facts=_missing())

    found = adr_consulted(context(["project/docs/adr/0022-x.md"]))
    assert (found.outcome, found.via) == ("pass", "file")


class _missing:
    def __getitem__(self, key: str) -> Any:
        raise Fault("no-transcript", "no transcript belongs to the target")

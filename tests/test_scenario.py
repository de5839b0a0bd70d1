"""Scenario files: every mistake is an error before anything runs, naming file, line and key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from copying import copied
from programs import bin, one_line

OWN = Path("scenarios/vault-write/Q1-test.md")
GOOD = """\
---
id: Q1-test
suite: vault-write
title: a test
posture: unprompted
polarity: positive
level: 1
fixture: vault-write
trees: [project, vault]
cwd: project
plugins: [os-vault]
env: {OS_VAULT_PATH: "{sandbox}/vault"}
limits: {turns: 40, seconds: 900, usd: 2.0}
axes:
  A: {any: [{note_written: {topics: ['\\bFinch\\b']}}, {offered: vault-offer}]}
  B: {note_contract: {}}
---
## Task
Do something.
## Criteria
Something is done.
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy of the project for all tests that only add a scenario of their own to it."""
    return copied(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def adding(shared: Path) -> Iterator[Path]:
    yield shared
    (shared / OWN).unlink(missing_ok=True)


def _refused(root: Path, text: str) -> str:
    (root / OWN).write_text(text)
    done = bin("run", "Q1", "never", root / "never", root=root)
    assert (done.returncode, done.stdout) == (2, "")
    assert not (root / "never").exists()
    return one_line(done.stderr)


BROKEN = [
    ("title: a test", "tittle: a test", ":4: unknown key 'tittle'; did you mean 'title'?"),
    ("limits: {turns: 40", "limits: {turn: 40", ":13: unknown limit 'turn'; did you mean 'turns'?"),
    ("turns: 40", "turns: -1", ":13: limit 'turns' must be a whole number above 0, not '-1'"),
    ("turns: 40", "turns: yes", ":13: limit 'turns' must be a whole number above 0, not 'True'"),
    (
        "note_written: {topics",
        "note_writen: {topics",
        ":15: unknown check word 'note_writen'; did you mean 'note_written'?",
    ),
    ("{topics: [", "{topic: [", ":15: unknown argument of 'note_written' 'topic'; did you mean 'topics'?"),
    ("{topics: ['\\bFinch\\b']}", "{topics: []}", ":15: 'note_written: topics' must be a list that is not empty"),
    ("{topics: ['\\bFinch\\b']}", "{topics: ['  ']}", ":15: 'note_written: topics' holds an empty one"),
    (
        "{topics: ['\\bFinch\\b']}",
        "{topics: ['a*']}",
        ":15: 'note_written: topics' holds 'a*', which matches an empty text",
    ),
    ("'\\bFinch\\b'", "'(unclosed'", ":15: 'note_written: topics' holds '(unclosed', which does not compile"),
    ("{topics: ['\\bFinch\\b']}", "{}", ":15: 'note_written' lacks its argument 'topics'"),
    ("offered: vault-offer", "offered: vault-ofer", ":15: 'offered: rubric' is 'vault-ofer', but"),
    ("  B: {note_contract: {}}", "  B:", ":16: axis B must be one check word"),
    ("  B: {note_contract: {}}", "  B: {any: []}", ":16: 'any' must list expressions"),
    ("  B: {note_contract: {}}", "  bee: {note_contract: {}}", ":16: axis 'bee' must be one capital letter"),
    ("posture: unprompted", "posture: unpromted", ":5: 'posture' is 'unpromted'; use one of"),
    ("polarity: positive", "polarity: positive\npolarity: negative", ":7: key 'polarity' occurs twice"),
    (
        "plugins: [os-vault]",
        "plugins: [os-valt]",
        ":11: no plugin 'os-valt' in fixture/plugins/; did you mean 'os-vault'?",
    ),
    (
        "plugins: [os-vault]",
        "stubs: [os-valt]",
        ":11: no plugin 'os-valt' in fixture/plugins/; did you mean 'os-vault'?",
    ),
    (
        "cwd: project",
        "require: [hook:os-vault, subagent:haiku]\ncwd: project",
        ":10: cannot require 'subagent:haiku'; did you mean",
    ),
    ("trees: [project, vault]", "trees: [project, valt]", ":9: no folder 'vault-write/valt'"),
    ("cwd: project", "cwd: ../project", ":10: '../project' must be a path inside the fixture"),
    ("cwd: project\n", "", ":2: key 'cwd' is missing"),
    ("level: 1", "level: one", ":7: 'level' must be a number, not text"),
    ("id: Q1-test", "id: Q2-test", ":2: id 'Q2-test' is not the file's name 'Q1-test'"),
    ("title: a test", "title: [a", ":5: not YAML"),
    ("---\n## Task", "## Task", ":1: the front matter has no end"),
    ("## Criteria", "## Criterias", ":20: unknown section 'Criterias'; did you mean 'Criteria'?"),
    ("Do something.\n", "", "section '## Task' is missing or empty"),
    ("cwd: project\n", "cwd: project/nope\n", ":10: no folder 'vault-write/project/nope' in fixture/"),
    ("{sandbox}/vault", "{sandbx}/vault", ":12: '{sandbx}' stands for nothing; use {sandbox}"),
    ("{OS_VAULT_PATH:", "{'OS VAULT':", ":12: 'OS VAULT' is no name of a variable"),
    (
        "plugins: [os-vault]",
        "plugins: [os-vault]\nsubject: [project/CLAUD.md]",
        ":12: no 'vault-write/project/CLAUD.md'",
    ),
    (
        "plugins: [os-vault]",
        "plugins: [os-vault]\nrequire: [hook:os-vualt]",
        ":12: cannot require 'hook:os-vualt'; did you mean",
    ),
    (
        "{note_contract: {}}",
        "{no_note_written: {root: vault/}}",
        ":16: 'no_note_written: root' is 'vault/', expected a path in",
    ),
    (
        "{note_contract: {}}",
        "{no_note_written: {root: valut}}",
        ":16: 'no_note_written: root' is 'valut', expected a path in",
    ),
]


@pytest.mark.parametrize(("old", "new", "complaint"), BROKEN)
def test_a_mistake_names_file_line_and_key(adding: Path, old: str, new: str, complaint: str) -> None:
    assert old in GOOD
    message = _refused(adding, GOOD.replace(old, new))
    assert message.startswith("run: ")
    assert f"Q1-test.md{complaint}" in message.replace("Q1-test.md: section", "Q1-test.mdsection")


def test_the_good_one_is_accepted(adding: Path, tmp_path: Path) -> None:
    (adding / OWN).write_text(GOOD.replace("\n", "\r\n"))
    assert bin("sandbox", "Q1", tmp_path / "made", root=adding).returncode == 0


def test_unknown_scenario_suggests_the_near_miss() -> None:
    done = bin("sandbox", "P1-L1-reportin", "/nonexistent/x")
    assert done.returncode == 2
    assert one_line(done.stderr) == "sandbox: unknown scenario 'P1-L1-reportin'; did you mean 'P1-L1-reporting'?"


def test_a_prefix_must_be_unique(repository: Path) -> None:
    text = GOOD.replace("Q1-test", "P1-other")
    (repository / "scenarios" / "vault-write" / "P1-other.md").write_text(text)
    done = bin("sandbox", "P1", repository / "x", root=repository)
    assert done.returncode == 2
    assert "scenario 'P1' is ambiguous" in one_line(done.stderr)


def test_a_prefix_means_the_run_set_before_the_reserve(repository: Path) -> None:
    text = GOOD.replace("Q1-test", "P1-other")
    (repository / "scenarios-reserve" / "vault-write" / "P1-other.md").write_text(text)
    for name, wanted in (("P1", "P1-L1-reporting"), ("P1-other", "P1-other"), ("P4", "P4-L1-delivery")):
        done = bin("run", name, "nobody", repository / "x", root=repository)
        assert f"unknown model 'nobody' for {wanted}" in one_line(done.stderr)


def test_lint_passes_on_what_is_shipped_and_not_on_nothing(repository: Path) -> None:
    assert bin("check", "--lint").returncode == 0
    for path in [*(repository / "scenarios").rglob("*.md"), *(repository / "scenarios-reserve").rglob("*.md")]:
        path.unlink()
    done = bin("check", "--lint", root=repository)
    assert done.returncode == 2
    assert "no scenario found" in done.stdout


LEAKS = [
    ("Please put it in the vault.", "holds the forbidden word 'vault'"),
    ("As ADR-0002 says, keep it.", "holds an ADR id"),
    ("See 0002-store-utc for it.", "holds an ADR id"),
    ("The Finch thing.", "matches the scenario's own patterns 'Q1-test/A/topics'"),
]


@pytest.mark.parametrize(("task", "rule"), LEAKS)
def test_a_leak_into_the_task_is_named_without_the_task(adding: Path, task: str, rule: str) -> None:
    text = GOOD.replace("Do something.", task).replace("axes:", "forbid_in_task: [vault]\naxes:")
    (adding / OWN).write_text(text)
    done = bin("check", "--lint", root=adding)
    assert done.returncode == 2
    assert rule in done.stdout
    assert task not in done.stdout


def test_six_words_of_the_plugin_in_a_task_are_a_leak(adding: Path) -> None:
    skill = next((adding / "fixture/plugins/os-vault/skills").rglob("SKILL.md"))
    words = " ".join(line for line in skill.read_text().split("---")[2].splitlines() if len(line.split()) > 8).split()[
        :8
    ]
    (adding / OWN).write_text(GOOD.replace("Do something.", " ".join(words)))
    done = bin("check", "--lint", root=adding)
    assert done.returncode == 2
    assert "shares 6 words in a row with plugins/os-vault/" in done.stdout


def test_a_pair_must_fit(adding: Path) -> None:
    (adding / OWN).write_text(GOOD.replace("level: 1", "level: 1\npair: N1-L1-reporting"))
    done = bin("check", "--lint", root=adding)
    assert "pair 'N1-L1-reporting' names 'P1-L1-reporting' as its own pair" in done.stdout


def test_a_heading_within_a_task_is_refused_without_repeating_it(adding: Path) -> None:
    secret = "Please remember the secret ingredient of the Finch"
    message = _refused(adding, GOOD.replace("Do something.", f"Do something.\n## {secret}"))
    assert "Q1-test.md:20: unknown section; known:" in message
    assert "secret" not in message

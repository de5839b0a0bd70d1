"""Uses of words that can measure nothing: for everyone passed, for everyone failed, or undecided. All are refused."""

import re
from pathlib import Path

import pytest
from heldout import scenario
from heldout.checks import expression
from heldout.errors import Refusal
from programs import ROOT, bin

HEADS = {
    "vault-write": "fixture: vault-write\ncwd: project\ntrees: [project, vault]\nplugins: [os-vault]\n",
    "adr-unprompted": "fixture: adr-unprompted\ncwd: project\nplugins: [os-adr]\n",
    "adr-skills": "fixture: adr-skills\ncwd: project\nplugins: [os-adr]\n",
    "legacy": "fixture: adr-skills\ncwd: legacy-project\nplugins: [os-adr]\n",
    "orchestration": "fixture: orchestration\ncwd: project\nplugins: [os-context]\n",
    "diagnosis": "fixture: diagnosis\ntrace: traces/D1-cpu-saturation.json\n",
}


def validated(tmp_path: Path, suite: str, axes: str, more: str = "", sections: str = "") -> scenario.Scenario:
    """A scenario with the front matter of HEADS and the lines `axes`, loaded and validated."""
    folder = tmp_path / suite
    folder.mkdir()
    posture = "trace" if suite == "diagnosis" else "unprompted"
    head = f"id: Q1\nsuite: {suite}\ntitle: t\nposture: {posture}\n{HEADS[suite]}{more}axes:\n"
    lines = "".join(f"  {line}\n" for line in axes.splitlines())
    (folder / "Q1.md").write_text(f"---\n{head}{lines}---\n## Task\nx\n## Criteria\nx\n{sections}", "utf-8")
    item = scenario.load(folder / "Q1.md")
    expression.validate(item)
    return item


APPLIED = "A: {adr_applied: {correct: ['0009'], distractors: ['0003'], acted_right: {'lib/*.rb': ['x']}}}"
NEW = "A: {new_adr: {title: T x, status: Accepted, date: '2025-12-18', affects: project/toolshed/fees.py}}"
ENTRY = "0001 2023-03-14 Accepted Ask the gauge every ten minutes"
MIGRATED = f"A: {{adrs_migrated: {{source: legacy-project/DECISIONS.md, entries: ['{ENTRY}']}}}}"
JSON = "A: {files_changed_valid_json: {paths: 'project/services/*.json', count: 9}}"
CONCEPTS = "A: {concepts_named: {least: 1, concepts: {a: ['x'], b: ['y']}}}"
KEYWORDS = "A: {root_cause_named: {minimum: 1, keywords: {cpu: [CPU], b: [x]}}}"

FINE = [
    ("vault-write", "A: {no_note_written: {root: vault}}"),
    ("vault-write", "A: {no_note_written: {root: project/docs}}"),
    ("vault-write", "A: {note_written: {topics: ['x']}}\nB: {note_contract: {}}"),
    ("vault-write", 'A: {note_written: {topics: ["(?x) a\\n\\t| b"]}}'),
    ("adr-unprompted", "A: {all: [{no_new_adr: {}}, {adrs_kept: {but: ['0003']}}]}"),
    ("adr-unprompted", APPLIED),
    ("adr-unprompted", APPLIED.replace("lib/*.rb", "config/tariffs/2031-01-01.yml")),
    ("adr-skills", NEW),
    ("adr-skills", "A: {answer_line: {said: conflict, among: [conflict, no conflict]}}"),
    ("legacy", "A: {adr_superseded: {old: '0002', new: '0004'}}"),
    ("legacy", MIGRATED),
    ("orchestration", JSON),
    ("orchestration", CONCEPTS),
    ("orchestration", "A: {max_spawns: {n: 0}}"),
    ("orchestration", "A: {spawn_with_model: {other_than: claude-haiku-4-5}}"),
    ("diagnosis", KEYWORDS),
]


@pytest.mark.parametrize(("suite", "axes"), FINE)
def test_what_can_be_measured_is_taken(tmp_path: Path, suite: str, axes: str) -> None:
    validated(tmp_path, suite, axes)


IDLE = [
    # Nothing of the kind is there at the start.
    (
        "vault-write",
        "A: {no_note_written: {root: project/dcos}}",
        ":11: 'no_note_written: root' is 'project/dcos', where fixture/vault-write has nothing at the start; "
        "did you mean 'project/docs'?",
    ),
    ("vault-write", "A: {no_note_written: {root: project/README.md}}", "has nothing at the start"),
    ("vault-write", "A: {no_note_written: {root: project/.git}}", "has nothing at the start"),
    ("vault-write", "A: {no_note_written: project/dcos}", "'no_note_written: root' is 'project/dcos'"),
    ("vault-write", "A: {note_written: {topics: [x], root: project/dcos}}", "'note_written: root' is 'project/dcos'"),
    ("adr-unprompted", "A: {no_note_written: {}}", "'no_note_written: root' is 'vault', where"),
    ("adr-unprompted", "A: no_note_written", "'no_note_written: root' is 'vault', where"),
    ("adr-unprompted", "A: {not: {all: [{no_note_written: {}}]}}", "'no_note_written: root' is 'vault', where"),
    ("legacy", "A: {no_new_adr: {}}", "'no_new_adr' is about 'legacy-project/docs/adr', where"),
    ("legacy", "A: {adrs_kept: {}}", "'adrs_kept' is about the ADRs of 'legacy-project/docs/adr', where"),
    ("adr-unprompted", "A: {adrs_kept: {but: ['0099']}}", "'adrs_kept: but' names ADR '0099', which"),
    ("adr-unprompted", "A: {adrs_kept: {but: ['9']}}", "'adrs_kept: but' is '9', expected the number of an ADR"),
    ("adr-skills", "A: {adr_skeleton: {}}", "'adr_skeleton' is about a new log, and fixture/adr-skills has"),
    ("adr-unprompted", APPLIED.replace("0009", "0999"), "'adr_applied: correct' names ADR '0999'"),
    ("adr-unprompted", APPLIED.replace("0009", "nine"), "'adr_applied: correct' is 'nine', expected the number"),
    ("adr-unprompted", APPLIED.replace("0003", "0009"), "'adr_applied: distractors' names ADR '0009', which is one of"),
    ("adr-unprompted", APPLIED.replace("lib/*.rb", "lbi/x.rb"), "'adr_applied: acted_right' has 'lbi/x.rb', and"),
    ("adr-unprompted", APPLIED.replace("lib/*.rb", "project/lib/*.rb"), "has 'project/lib/*.rb', and"),
    ("adr-skills", NEW.replace("fees.py", "feess.py"), "which is no file of fixture/adr-skills at the start; did you"),
    ("adr-skills", NEW.replace("Accepted", "accepted"), "'new_adr: status' is 'accepted', expected one of Proposed"),
    ("adr-skills", NEW.replace("2025-12-18", "18.12.2025"), "'new_adr: date' is '18.12.2025', expected YYYY-MM-DD"),
    ("adr-skills", NEW.replace("T x", "'???'"), "'new_adr: title' is '???', which has no word"),
    ("adr-skills", "A: {adr_superseded: {old: '0033', new: '0005'}}", "'adr_superseded: old' names ADR '0033', which"),
    ("adr-skills", "A: {adr_superseded: {old: '0003', new: '5'}}", "'adr_superseded: new' is '5', expected the"),
    (
        "adr-skills",
        "A: {adr_superseded: {old: '0003', new: '0003'}}",
        "'adr_superseded: new' is '0003', which is 'old'",
    ),
    ("adr-skills", "A: {answer_cites: {right: '0022', wrong: ['0001']}}", "'answer_cites: right' names ADR '0022'"),
    ("adr-skills", "A: {answer_cites: {right: '0002', wrong: ['0011']}}", "'answer_cites: wrong' names ADR '0011'"),
    ("adr-skills", "A: {answer_cites: {right: '0002', wrong: ['0002']}}", "'answer_cites: wrong' names ADR '0002'"),
    (
        "adr-skills",
        "A: {answer_line: {said: conflct, among: [conflict, none]}}",
        "said' is 'conflct', which is none of",
    ),
    ("adr-skills", "A: {answer_line: {said: 'no: so', among: ['no: so']}}", "among' holds 'no: so', which no line is"),
    ("legacy", MIGRATED.replace("DECISIONS", "DECISION"), "adrs_migrated: source' is 'legacy-project/DECISION.md'"),
    ("legacy", MIGRATED.replace("gauge", "gouge"), "adrs_migrated: entries' has 'Ask the gouge every ten minutes'"),
    ("legacy", MIGRATED.replace("Accepted ", ""), "adrs_migrated: entries' has '0001 2023-03-14 Ask the gauge"),
    ("legacy", MIGRATED.replace(ENTRY, "0001 x"), "expected number, date, status and title"),
    ("orchestration", JSON.replace("9", "8"), "count' is 8, but 9 files match 'project/services/*.json' at the start"),
    ("orchestration", JSON.replace("services", "servces"), "is 'project/servces/*.json', which matches no file of"),
    ("orchestration", JSON.replace("services", "*"), "is 'project/*/*.json', which matches no file of"),
    (
        "orchestration",
        "A: {spawn_with_model: {other_than: hiaku}}",
        "'spawn_with_model: other_than' is 'hiaku', expected",
    ),
    # Numbers that no session can be on one side of, or that are none.
    ("orchestration", JSON.replace("9", "0"), "count' is 0, expected a whole number from 1"),
    ("orchestration", JSON.replace("9", "yes"), "count' must be a number, not yes/no"),
    ("orchestration", CONCEPTS.replace("1", "0"), "'concepts_named: least' is 0, expected a whole number from 1"),
    ("orchestration", CONCEPTS.replace("1", "3"), "'concepts_named: least' is 3 of 2 concepts"),
    ("orchestration", CONCEPTS.replace("1", "1.5"), "'concepts_named: least' is 1.5, expected a whole number from 1"),
    (
        "orchestration",
        CONCEPTS.replace("1", ".nan"),
        "'concepts_named: least' is nan, expected a number that is finite",
    ),
    ("orchestration", "A: {max_spawns: {n: -1}}", "'max_spawns: n' is -1, expected a whole number from 0"),
    ("orchestration", "A: {max_spawns: .inf}", "'max_spawns: n' is inf, expected a number that is finite"),
    ("orchestration", "A: {no_grind: {edits: 0}}", "'no_grind: edits' is 0, expected a whole number from 1"),
    ("orchestration", "A: {reads_within: {bytes: 0}}", "'reads_within: bytes' is 0, expected a whole number from 1"),
    ("diagnosis", KEYWORDS.replace("1", "0"), "'root_cause_named: minimum' is 0, expected a whole number from 1"),
    ("diagnosis", KEYWORDS.replace("1", "3"), "'root_cause_named: minimum' is 3 of 2 keywords"),
    ("diagnosis", "A: {answer_avoids: {}}", "'answer_avoids' has neither 'keywords' nor 'claims'"),
    ("diagnosis", "A: {agent_verdict_in: {allowed: [PASS], forbidden: [pass]}}", "forbidden' holds 'pass', which is"),
    # Undecided in every session.
    ("orchestration", "A: {expected_files: {}}", "'expected_files' needs a section '## Expected files'"),
    ("orchestration", "A: {audit_closed: {}}", "'audit_closed' reads a saved trace, and this scenario is unprompted"),
    ("diagnosis", "A: {no_spawn: {}}", "'no_spawn' reads what an agent did, and this scenario has a saved trace alone"),
    ("diagnosis", "A: {any: [{not: {no_note_written: {}}}]}", "'no_note_written' reads what an agent did, and this"),
    ("vault-write", "A: {note_contract: {}}", "'note_contract' judges the notes of an earlier axis, and none before A"),
    ("vault-write", "A: {note_contract: {}}\nB: {note_written: {topics: [x]}}", "and none before A"),
    # What no text can hold.
    ("vault-write", 'A: {note_written: {topics: ["\\bFinch\\b"]}}', "topics' holds '\\x08Finch\\x08', which has the"),
    ("vault-write", "A: {note_written: {topics: ['Fin\u200bch']}}", "the character U+200B, which no text keeps"),
    ("diagnosis", 'A: {answer_avoids: {claims: ["\\bx"]}}', "claims' holds '\\x08x', which has the character U+0008"),
    ("adr-unprompted", APPLIED.replace("['x']", '["\\x01"]'), "acted_right' holds '\\x01', which has the character"),
    ("vault-write", 'A: {note_written: {topics: [x], root: "vault\\b"}}', "root' is 'vault\\x08', which has the"),
]


@pytest.mark.parametrize(("suite", "axes", "complaint"), IDLE)
def test_what_can_measure_nothing_is_refused(tmp_path: Path, suite: str, axes: str, complaint: str) -> None:
    with pytest.raises(Refusal) as caught:
        validated(tmp_path, suite, axes)
    assert complaint in str(caught.value), str(caught.value)
    assert re.search(r"Q1\.md:[0-9]+: ", str(caught.value))


LISTED = "A: {expected_files: {}}"


def test_expected_files_are_new_ones_below_the_cwd(tmp_path: Path) -> None:
    section = "## Expected files\n- {}\n"
    validated(tmp_path, "orchestration", LISTED, sections=section.format("docs/runbooks/new.md"))
    for place, (name, complaint) in enumerate(
        [
            ("README.md", "lists 'README.md', which is there at the start"),
            ("../x.md", "lists '../x.md', which is no path"),
        ]
    ):
        folder = tmp_path / str(place)
        folder.mkdir()
        with pytest.raises(Refusal, match=re.escape(complaint)):
            validated(folder, "orchestration", LISTED, sections=section.format(name))


@pytest.mark.parametrize("limit", ["seconds: .nan", "seconds: .inf", "usd: .inf", "turns: 1.5", "usd: .nan"])
def test_a_limit_is_a_number_that_ends_something(tmp_path: Path, limit: str) -> None:
    with pytest.raises(Refusal, match=rf":9: limit '{limit.partition(':')[0]}' must be a (whole )?number above 0"):
        validated(tmp_path, "orchestration", "A: {no_spawn: {}}", f"limits: {{{limit}}}\n")


REQUIRED = [
    ("plugins: [os-context]", "require: [hook:os-context]", ""),
    ("plugins: [os-vault-tuned]", "require: [hook:os-vault]", ""),
    (
        "plugins: [os-vault-tuned]",
        "require: [hook:os-vault-tuned]",
        "cannot require 'hook:os-vault-tuned'; did you mean",
    ),
    (
        "plugins: [subagent-model]",
        "require: [hook:subagent-model]",
        "cannot require 'hook:subagent-model': plugin 'subagent-model' has no SessionStart hook",
    ),
    ("plugins: [os-context]", "require: ['subagents:hiaku']", "cannot require 'subagents:hiaku'; did you mean"),
    ("plugins: [os-context]", "require: ['subagents:haiku']", ""),
]


@pytest.mark.parametrize(("plugins", "require", "complaint"), REQUIRED)
def test_what_is_required_can_be_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugins: str, require: str, complaint: str
) -> None:
    monkeypatch.setitem(HEADS, "orchestration", f"fixture: orchestration\ncwd: project\n{plugins}\n{require}\n")
    if complaint:
        with pytest.raises(Refusal, match=re.escape(complaint)):
            validated(tmp_path, "orchestration", "A: {no_spawn: {}}")
    else:
        validated(tmp_path, "orchestration", "A: {no_spawn: {}}")


def test_plugins_of_a_run_must_be_able_to_deliver_it(tmp_path: Path) -> None:
    stub = ROOT / "fixture/plugins/subagent-model"
    told = "P1-L1-reporting cannot require 'hook:os-vault': there is no plugin 'os-vault' among"
    run = tmp_path / "run"
    for done in (
        bin("run", "P1", "never", run, "--plugin", stub),
        bin("cells", run, "--scenarios", "P1", "--models", "never", "--plugin", stub),
    ):
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
    assert not (tmp_path / "run").exists()

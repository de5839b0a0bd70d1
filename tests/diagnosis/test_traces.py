"""Saved traces as cells, as files and as folders: scored without an agent, and clear about what is missing or wrong."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from heldout import cell, rows, scenario
from heldout.agents import roster, variants
from heldout.checks import traces
from heldout.errors import Fault, Refusal
from programs import bin, command, one_line
from tracing import CASES, FIXTURE, saved

SCHEMA = FIXTURE / "trace.schema.json"


def _file(folder: Path, case: str, content: Any = None) -> Path:
    path = folder / f"{case}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content or saved(case)), encoding="utf-8")
    return path


def test_any_saved_trace_is_scored(tmp_path: Path) -> None:
    path = tmp_path / "today.json"
    shutil.copy(FIXTURE / "traces/D3-slow-sql.json", path)
    done = bin("check", "D3", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "D3-slow-sql: PASS"
    trace = saved("D3-slow-sql")
    trace["selfEvaluation"]["verifier_evaluation"]["verdict"] = "REJECT"
    path.write_text("\ufeff" + json.dumps(trace), encoding="utf-8")  # as an editor of Windows saves it
    done = bin("check", "D3", path, "--tsv", "agent-2")
    row = rows.parse(one_line(done.stdout), "stdout")
    assert (done.returncode, row.model, row.verdict) == (1, "agent-2", "FAIL")
    assert "verdict is 'reject', expected one of pass, partial" in row.reasons[0]


def test_fixture_trace_evaluation(tmp_path: Path) -> None:
    """A folder of traces is scored against the cases by id; nothing runs for it."""
    done = bin("check", "--traces", FIXTURE / "traces", env={"PATH": "/nowhere"})
    assert done.returncode == 0, done.stderr
    (tmp_path / "table").write_text(done.stdout)
    table = rows.read(tmp_path / "table")
    assert [(row.scenario, row.model, row.verdict) for row in table] == [(case, "trace", "PASS") for case in CASES]
    some = bin("check", "--traces", FIXTURE / "traces", "D10", "D2", "--tsv", "agent-2").stdout.splitlines()
    assert [line.split("\t")[:2] for line in some[1:]] == [
        ["D10-insufficient-evidence", "agent-2"],
        ["D2-oom-kill", "agent-2"],
    ]


def test_missing_fixture_is_reported_clearly(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    shutil.copytree(FIXTURE / "traces", folder)
    (folder / "D6-message-backlog.json").rename(folder / "D6-mesage-backlog.json")
    done = bin("check", "--traces", folder)
    assert done.returncode == 2
    (tmp_path / "table").write_text(done.stdout)
    by = {row.scenario: row for row in rows.read(tmp_path / "table")}
    assert sorted(by) == sorted(CASES)
    row = by["D6-message-backlog"]
    assert (row.verdict, row.code) == ("ERROR", "no-transcript")
    assert str(folder / "D6-message-backlog.json") in row.reasons[0]
    assert {case: found.verdict for case, found in by.items() if case != row.scenario} == {
        case: "PASS" for case in CASES if case != row.scenario
    }
    assert f"'{folder / 'D6-mesage-backlog.json'}' belongs to no case" in one_line(done.stderr)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--traces", "/nowhere"), "no folder '/nowhere'"),
        (("--traces", FIXTURE, "P1"), "'P1-L1-reporting' is no case of saved traces"),
        (("--traces", FIXTURE, "D77"), "unknown scenario 'D77'"),
    ],
)
def test_what_cannot_be_scored_is_refused(words: tuple[object, ...], complaint: str) -> None:
    done = bin("check", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in one_line(done.stderr)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda trace: trace.pop("traceId"), "the document lacks 'traceId' and has "),
        (lambda trace: trace.update(finalAnswer=None), "/finalAnswer is null, expected text"),
        (lambda trace: trace.update(durationMs="12 s"), '/durationMs is "12 s", expected a number or null'),
        (lambda trace: trace.update(durationMs=-4), "/durationMs is -4, expected at least 0"),
        (lambda trace: trace.update(traceId=""), '/traceId is "", expected text of a length of at least 1'),
        (lambda trace: trace.update(toolInvocations={}), "/toolInvocations is an object, expected a list or null"),
        (
            lambda trace: trace["toolInvocations"][1].update(success="yes"),
            '/toolInvocations/1/success is "yes", expected',
        ),
        (
            lambda trace: trace.update({"selfEvaluation": "good"}),
            '/selfEvaluation is "good", expected an object or null',
        ),
        (
            lambda trace: trace["selfEvaluation"]["verifier_evaluation"]["claim_checks"].append("c9"),
            '/selfEvaluation/verifier_evaluation/claim_checks/3 is "c9", expected an object',
        ),
        (
            lambda trace: trace["executor"]["executor_evidence_v2"]["claims"][0].update(claim_id=7),
            "/executor/executor_evidence_v2/claims/0/claim_id is 7, expected text or null",
        ),
    ],
)
def test_an_invalid_trace_names_file_place_expected_and_found(tmp_path: Path, change: Any, told: str) -> None:
    trace = saved("D1-cpu-saturation")
    change(trace)
    path = _file(tmp_path, "D1-cpu-saturation", trace)
    done = bin("check", "D1", path, "--tsv", "trace")
    row = rows.parse(one_line(done.stdout), "stdout")
    assert (done.returncode, row.verdict, row.code) == (2, "ERROR", "unreadable-transcript")
    assert f"'{path}' is no trace: " in row.reasons[0] and told in row.reasons[0]


def test_several_faults_of_a_trace_are_told_in_order_and_bounded(tmp_path: Path) -> None:
    trace = saved("D1-cpu-saturation")
    for call in trace["toolInvocations"]:
        call["durationMs"] = "?"
    with pytest.raises(Fault, match=r"/0/durationMs is .*/1/durationMs is .*/2/durationMs is .* and 2 more"):
        traces.load(_file(tmp_path, "D1", trace), SCHEMA)


@pytest.mark.parametrize("content", ["", " \n", "\ufeff"])
def test_an_empty_file_is_an_empty_transcript(tmp_path: Path, content: str) -> None:
    with pytest.raises(Fault, match="empty-transcript"):
        traces.load(_file(tmp_path, "D1", content or "\n"), SCHEMA)


@pytest.mark.parametrize("content", ["{", "[1]", '"text"', "{} {}", '{"a": NaN}', "[" * 5000])
def test_what_is_no_trace_is_unreadable(tmp_path: Path, content: str) -> None:
    with pytest.raises(Fault, match="unreadable-transcript"):
        traces.load(_file(tmp_path, "D1", content), SCHEMA)


def test_null_stands_for_absent_and_unknown_keys_are_ignored(tmp_path: Path) -> None:
    document = {"traceId": "t", "question": "q", "finalAnswer": "", "executor": None, "selfEvaluation": None, "x": [1]}
    assert traces.load(_file(tmp_path, "D1", document), SCHEMA) == document


# Cells


def test_a_cell_is_the_trace_and_its_subject_is_the_trace(tmp_path: Path) -> None:
    done = bin("run", "D3", "trace", tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "diagnosis/D3-slow-sql/trace/r1"
    assert sorted(path.name for path in folder.iterdir()) == ["cell.json", "transcript.jsonl"]
    assert (folder / "transcript.jsonl").read_bytes() == (FIXTURE / "traces/D3-slow-sql.json").read_bytes()
    record = cell.read(folder)
    assert (record.agent, record.sandbox, record.fault) == ("trace", "", None)
    assert list(record.subjects) == ["trace:traces/D3-slow-sql.json"]
    row = rows.parse(one_line(done.stdout), "stdout")
    assert row.info["instrument"] and "served" not in row.info and "cli" not in row.info
    assert bin("check", "D3", folder).returncode == 0


def test_a_cell_without_a_fixture_is_an_error_row_with_the_path(repository: Path) -> None:
    (repository / "fixture/diagnosis/traces/D5-vector-store-timeout.json").unlink()
    done = bin("run", "D5", "trace", repository / "results/x", root=repository)
    assert done.returncode == 2
    row = rows.parse(one_line(done.stdout), "stdout")
    assert (row.verdict, row.code) == ("ERROR", "no-transcript")
    assert "fixture/diagnosis/traces/D5-vector-store-timeout.json" in row.reasons[0]


def test_an_invalid_fixture_is_tried_again_when_it_is_mended(repository: Path) -> None:
    path = repository / "fixture/diagnosis/traces/D5-vector-store-timeout.json"
    good = path.read_text(encoding="utf-8")
    path.write_text("{}")
    run = repository / "results/x"
    assert bin("run", "D5", "trace", run, root=repository).returncode == 2
    path.write_text(good, encoding="utf-8")
    assert bin("run", "D5", "trace", run, root=repository).returncode == 0
    assert [row.verdict for row in rows.read(run / "results.tsv")] == ["PASS"]


def test_a_changed_trace_is_another_subject_and_a_changed_case_another_instrument(repository: Path) -> None:
    run = repository / "results/x"
    bin("run", "D9", "trace", run, root=repository)
    trace = repository / "fixture/diagnosis/traces/D9-dns-failure.json"
    text = trace.read_text(encoding="utf-8")
    trace.write_text(text.replace("n7 and n8", "n7, n8"), encoding="utf-8")
    cells = ("cells", run, "--scenarios", "D9", "--reps", 2)
    assert (
        "trace:traces/D9-dns-failure.json changed since D9-dns-failure trace r1" in bin(*cells, root=repository).stderr
    )
    before = rows.read(run / "results.tsv")[0].info
    trace.write_text(text, encoding="utf-8")
    case = repository / "scenarios/diagnosis/D9-dns-failure.md"
    case.write_text(case.read_text(encoding="utf-8").replace("minimum: 3", "minimum: 4"), encoding="utf-8")
    after = rows.parse(bin("check", "--cells", run, root=repository).stdout.splitlines()[1], "check").info
    assert before["case"] != after["case"] and before["instrument"] != after["instrument"]


def test_another_folder_of_traces_can_be_the_subject(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE / "traces", tmp_path / "new/traces")
    changed = saved("D8-bad-deploy")
    changed["finalAnswer"] = "No idea."
    _file(tmp_path / "new/traces", "D8-bad-deploy", changed)
    done = bin("run", "D8", "trace", tmp_path / "run", "--subject", tmp_path / "new")
    assert rows.parse(one_line(done.stdout), "stdout").verdict == "FAIL"


# Grids


def _listed(*words: object) -> list[str]:
    return [Path(line).parts[-4] for line in bin("cells", "/nowhere/run", *words).stdout.splitlines()]


def test_a_grid_without_models_has_every_trace_and_the_default_actors() -> None:
    assert _listed("--suite", "diagnosis") == CASES
    assert set(CASES) < set(_listed())


def test_models_are_for_the_scenarios_that_they_fit() -> None:
    done = bin("cells", "/nowhere/run", "--models", "compliant", "--scenarios", "D1 P1")
    assert [Path(line).parts[-4] for line in done.stdout.splitlines()] == ["P1-L1-reporting"]
    assert "left out, since none of these models is for them: diagnosis" in one_line(done.stderr)
    assert _listed("--models", "trace", "--scenarios", "D1 P1") == ["D1-cpu-saturation"]
    done = bin("cells", "/nowhere/run", "--models", "compliant", "--suite", "diagnosis")
    assert done.returncode == 2 and "no cell is selected" in done.stderr


def test_a_trace_has_one_model_and_no_sandbox(tmp_path: Path) -> None:
    done = bin("run", "D1", "trce", tmp_path)
    assert done.returncode == 2
    assert "unknown model 'trce' for D1-cpu-saturation; did you mean 'trace'?" in one_line(done.stderr)
    done = bin("sandbox", "D1", tmp_path / "s")
    assert "'D1-cpu-saturation' is a saved trace: it has no sandbox" in one_line(done.stderr)


def test_make_grid_and_canary_score_traces_without_an_agent(repository: Path) -> None:

    done = command(["make", "-C", repository, "grid", "SUITE=diagnosis", "SCENARIOS=D1 D10"])
    assert done.returncode == 0, done.stderr
    assert "saved traces: no agent was run" in done.stdout
    assert "diagnosis  trace  2/2     1.00  4.0         37.1     1 pass, 1 reject" in done.stdout
    done = command(["make", "-C", repository, "canary", "SCENARIO=D1", "MODEL=trace"])
    assert done.returncode == 0 and "D1-cpu-saturation: PASS" in done.stdout


# Variants


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x: {change: {sett: {/a: 1}}, expect: {verdict: PASS}}", "unknown change 'sett'"),
        ("x: {change: {set: {/a: 1}, remove: [/b]}, expect: {verdict: PASS}}", "must have one change"),
        ("x: {change: {remove: /b}, expect: {verdict: PASS}}", "must have one change"),
        ("x: {change: {set: {/a: 1}}}", "variant 'x' expects nothing"),
        ("trace: {change: {set: {/a: 1}}, expect: {verdict: PASS}}", "variant 'trace' is one that every trace has"),
        ("x: {change: {set: {/a: 1}}, expect: {verdict: GOOD}}", "verdict 'GOOD' is none"),
        ("- x", "must map names to variants"),
    ],
)
def test_a_wrong_variant_names_file_and_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "D1.yaml"
    path.write_text(text)
    with pytest.raises(Refusal) as refused:
        variants.load_for(path)
    assert complaint in str(refused.value) and str(refused.value).startswith(f"{path}:1: ")


@pytest.mark.parametrize(
    "change",
    [{"remove": ["/a/7"]}, {"remove": ["/z"]}, {"set": {"/b/c/d": 1}}, {"replace": {"/t": ["none", "x"]}}],
)
def test_a_change_that_leads_nowhere_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="variant 'x': "):
        variants.render(b'{"a": [1], "b": 2, "t": "text"}', variants.Variant("x", {}, change))


def test_changes_are_made_at_their_places() -> None:
    def changed(change: dict[str, Any]) -> Any:
        return json.loads(variants.render(b'{"a": [1, 2], "b/c": {"d": "old"}}', variants.Variant("x", {}, change)))

    assert changed({"set": {"/a/-": 3, "/b~1c/d": None}}) == {"a": [1, 2, 3], "b/c": {"d": None}}
    assert changed({"remove": ["/a/0"]}) == {"a": [2], "b/c": {"d": "old"}}
    assert changed({"replace": {"/b~1c/d": ["old", "new"]}}) == {"a": [1, 2], "b/c": {"d": "new"}}


def test_a_variant_of_the_traces_own_file_replaces_the_common_one(tmp_path: Path) -> None:
    row = "{{change: {{set: {{/a: {}}}}}, expect: {{verdict: PASS}}}}"
    (tmp_path / "common.yaml").write_text(f"x: {row.format(1)}\ny: {row.format(1)}\n")
    (tmp_path / "D1.yaml").write_text(f"y: {row.format(2)}\n")
    found = variants.load_for(tmp_path / "D1.yaml")
    assert [found[name].change["set"]["/a"] for name in "xy"] == [1, 2]
    assert variants.load_for(tmp_path / "D2.yaml")["y"].change == {"set": {"/a": 1}}


def test_the_self_test_has_variants_and_traces_for_all_cases() -> None:
    item = scenario.find("D2-oom-kill")
    assert {"trace", "empty", "missing", "common-no-tool", "no-verdict"} <= set(roster.embedded(item))
    assert [name for name, variant in roster.variants_of(item).items() if variant.default] == ["trace"]

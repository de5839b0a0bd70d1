"""The cases of diagnosis: what each defines, that its trace is there, and that nothing it defines is without effect."""

import json

import pytest
from heldout import scenario
from heldout.agents import roster
from heldout.checks import traces
from heldout.checks.expression import words_of
from heldout.checks.keywords import parts
from programs import ROOT, bin
from tracing import CASES, FIXTURE, answers, evaluation, saved, says, score

ITEMS = [scenario.find(f"diagnosis/{case}") for case in CASES]


def given(item: scenario.Scenario) -> dict[str, dict]:
    """Arguments by word, of all axes of a case."""
    return {word.name: found for axis in item.axes.values() for word, found in words_of(axis)}


def written(keyword: str) -> str:
    """A text that has a keyword."""
    return " ".join(part.removesuffix("*") for part in parts(keyword))


@pytest.mark.parametrize("item", ITEMS, ids=CASES)
def test_case_definition_includes_expected_evidence(item: scenario.Scenario) -> None:
    words = given(item)
    assert item.id and item.task.strip()
    assert len(words["evidence_gathered"]["tools"]) >= 2
    assert words["agent_verdict_in"]["allowed"]
    named = words["root_cause_named"]
    assert 2 <= named["minimum"] <= len(named["keywords"])


def test_case_definition_can_express_forbidden_behavior() -> None:
    words = [given(item) for item in ITEMS]
    assert sum(bool(found["agent_verdict_in"]["forbidden"]) for found in words) >= 3
    assert sum(bool(found.get("answer_avoids", {}).get("keywords")) for found in words) >= 3
    assert all(found.get("answer_avoids") for found in words)


def test_the_cases_are_those_that_were_asked_for() -> None:
    assert len(CASES) >= 10
    topics = ("cpu", "oom", "sql", "redis", "vector", "backlog", "certificate", "deploy", "dns", "insufficient")
    assert all(any(topic in case for case in CASES) for topic in topics)
    rejecting = [item.id for item in ITEMS if given(item)["agent_verdict_in"]["allowed"] == ["REJECT"]]
    assert "D10-insufficient-evidence" in rejecting


@pytest.mark.parametrize("item", ITEMS, ids=CASES)
def test_every_case_resolves_to_a_fixture_file(item: scenario.Scenario) -> None:
    assert item.posture == "trace"
    assert item.trace == f"traces/{item.id}.json"
    assert (FIXTURE / f"traces/{item.id}.json").is_file()


@pytest.mark.parametrize("item", ITEMS, ids=CASES)
def test_fixture_files_are_loadable_as_diagnosis_traces(item: scenario.Scenario) -> None:
    trace = traces.load(FIXTURE / f"traces/{item.id}.json", item.trace_schema)
    assert trace["question"] == item.task.strip()
    assert score(item.id).verdict == "PASS"


def test_no_trace_lies_there_without_a_case() -> None:
    assert sorted(path.stem for path in (FIXTURE / "traces").iterdir()) == sorted(CASES)
    assert {path.stem for path in (FIXTURE / "variants").iterdir()} == {*CASES, "common"}


def test_lint_names_a_trace_that_is_missing(repository) -> None:
    (repository / "fixture/diagnosis/traces/D4-redis-evictions.json").unlink()
    done = bin("check", "--lint", root=repository)
    assert done.returncode == 2
    assert "D4-redis-evictions.md: trace 'diagnosis/traces/D4-redis-evictions.json' is no file" in done.stdout


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "core: [export, tenant]",
            "core: [exports]",
            "names 'exports', which is none of the keywords oom, limit, export, tenant",
        ),
        ("minimum: 3", "minimum: 5", "is 5 of 4 keywords"),
        ("minimum: 3", "notice: none\n      minimum: 3", "names 'none', which is none of the keywords"),
        ('"tenant ~ 4410"', '"pods restart"', "the Task has 'pods restart', a keyword of its root cause 'tenant'"),
        ('"tenant ~ 4410"', '"a ~ b ~ c"', "joins more than two texts"),
        ('"tenant ~ 4410"', '"ten* 4410"', "has a '*' that ends none of its texts"),
        ('"tenant ~ 4410"', '"tenant ~ *"', "has no letter or digit"),
    ],
)
def test_lint_names_what_is_wrong_with_a_root_cause(repository, before: str, after: str, told: str) -> None:
    path = repository / "scenarios/diagnosis/D2-oom-kill.md"
    path.write_text(path.read_text().replace(before, after))
    done = bin("check", "--lint", root=repository)
    assert done.returncode == 2
    assert told in done.stdout, done.stdout


@pytest.mark.parametrize("item", ITEMS, ids=CASES)
def test_every_spelling_of_a_keyword_counts(item: scenario.Scenario) -> None:
    for name, spellings in given(item)["root_cause_named"]["keywords"].items():
        for spelling in spellings:
            row = score(item.id, answers(f"— {written(spelling)} —"))
            told = [reason for reason in row.reasons if "root-cause keywords" in reason]
            assert name not in "".join(told).rpartition("without ")[2].split(", "), (name, spelling)


@pytest.mark.parametrize("item", ITEMS, ids=CASES)
def test_every_forbidden_keyword_and_claim_is_seen(item: scenario.Scenario) -> None:
    avoided = given(item).get("answer_avoids", {})
    for text in (*avoided["keywords"], *avoided["claims"]):
        row = score(item.id, says(f"({written(text)})"))
        assert row.verdict == "FAIL" and row.axes["D"] == "fail", text
        assert any(f"'{text}'" in reason for reason in row.reasons)


@pytest.mark.parametrize("item", ITEMS, ids=CASES)
def test_every_evidence_tool_and_verdict_counts(item: scenario.Scenario) -> None:
    words = given(item)
    for tool in words["evidence_gathered"]["tools"]:

        def without(trace: dict, tool: str = tool) -> None:
            trace["toolInvocations"] = [call for call in trace["toolInvocations"] if call["tool"] != tool]
            told = evaluation(trace)["summaries"]
            evaluation(trace)["summaries"] = [text for text in told if tool not in json.dumps(text)]

        row = score(item.id, without)
        assert row.axes["A"] == "fail" and row.info["uncovered"] == tool
    allowed = words["agent_verdict_in"]["allowed"]
    for verdict in ("PASS", "PARTIAL", "REJECT"):
        row = score(item.id, lambda trace, verdict=verdict: evaluation(trace).update(verdict=verdict))
        assert row.axes["B"] == ("pass" if verdict in allowed else "fail"), verdict


def test_every_axis_of_every_case_is_seen_failing_by_a_variant(tmp_path) -> None:
    """The self-test proves what each variant must get; here, that none of the axes is left out."""
    for item in ITEMS:
        failed: set[str] = set()
        for name, variant in roster.variants_of(item).items():
            if not variant.missing and "content" not in variant.change:
                failed.update(_failing(item, name))
        assert failed == set(item.axes), item.id


def _failing(item: scenario.Scenario, name: str) -> list[str]:
    from heldout.agents.variants import render

    raw = (FIXTURE / f"traces/{item.id}.json").read_bytes()
    changed = json.loads(render(raw, roster.variants_of(item)[name]))
    row = score(item.id, lambda trace: (trace.clear(), trace.update(changed)))
    return [letter for letter, outcome in row.axes.items() if outcome == "fail"]


def test_there_are_at_least_forty_variants() -> None:
    own = {(item.id, name) for item in ITEMS for name in roster.variants_of(item)}
    assert len(own) - 3 * len(ITEMS) >= 40


def test_traces_differ_as_saved_traces_do() -> None:
    """One has no duration, one no audit chain, one a composer that fell back, one a tool that only a summary names."""
    documents = {case: saved(case) for case in CASES}
    assert [case for case, trace in documents.items() if "durationMs" not in trace] == ["D9-dns-failure"]
    assert "executor" not in documents["D7-certificate-expiry"]
    assert evaluation(documents["D11-disk-full"])["composer_output"]["mode"] == "fallback"
    assert any(ord(letter) > 0x4E00 for letter in documents["D3-slow-sql"]["finalAnswer"])
    assert not (ROOT / "scenarios-reserve/diagnosis").exists()

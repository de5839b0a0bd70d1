"""The check words of diagnosis, by the sentences of the requirement document; the traces' variants are more of them."""

from collections.abc import Callable
from typing import Any

import pytest
from heldout import scenario
from heldout.checks import scoring
from heldout.checks.diagnosis import MARKERS, VERIFICATIONS
from heldout.checks.words import Context
from tracing import answers, evaluation, saved, says, score

V2 = "D1-cpu-saturation"


def test_evidence_coverage_validation() -> None:
    def drop(trace: dict[str, Any]) -> None:
        del trace["toolInvocations"][2]

    row = score("D2-oom-kill", drop)
    assert (row.verdict, row.axes["A"]) == ("FAIL", "fail")
    assert row.reasons == (
        "toolInvocations and summaries lack the evidence tool 'query_logs', called: "
        "query_events, query_metrics, query_deploys",
    )
    assert (row.info["covered"], row.info["uncovered"]) == ("query_events,query_metrics", "query_logs")

    def told(trace: dict[str, Any]) -> None:
        drop(trace)
        evaluation(trace)["summaries"].append("see QUERY_LOGS, second page")

    assert score("D2-oom-kill", told).verdict == "PASS"


def test_verifier_evaluation_validation() -> None:
    for verdict, complaint in ((None, "is missing"), ("  ", "is missing"), ("RETRY", "is 'retry'")):
        row = score("D2-oom-kill", lambda trace, verdict=verdict: evaluation(trace).update(verdict=verdict))
        assert row.axes["B"] == "fail"
        assert f"selfEvaluation.verifier_evaluation.verdict {complaint}, expected one of pass" in row.reasons
    assert score("D2-oom-kill").info["agent_verdict"] == "pass"


def test_answer_keyword_validation() -> None:
    row = score("D2-oom-kill", answers("The export of one tenant is too large, the pod is OOMKilled."))
    assert row.reasons == ("finalAnswer has 2 of 4 root-cause keywords, expected 3, without limit, tenant",)
    assert score("D2-oom-kill", answers("OOMKilled by the export of tenant 4410")).verdict == "PASS"


def test_degraded_output_validation() -> None:
    leak = "根因是 pay-web 的网关在 23:40 发生了短暂的连接池耗尽，随后自动恢复。"
    row = score("D10-insufficient-evidence", says(leak))
    assert row.axes["E"] == "fail"
    assert any(reason.startswith("finalAnswer repeats the unverified executor answer") for reason in row.reasons)
    row = score("D12-contradicted-claim", answers("Ask for the plan starter and the same number of documents."))
    assert row.reasons == ("finalAnswer to a rejected diagnosis does not say that it could not be established",)
    assert score("D10-insufficient-evidence").verdict == score("D12-contradicted-claim").verdict == "PASS"


def test_a_rejected_answer_may_say_what_the_question_says() -> None:
    question = saved("D10-insufficient-evidence")["question"]
    assert score("D10-insufficient-evidence", says(question)).verdict == "PASS"


@pytest.mark.parametrize("key", ["gatekeeper_result", "claim_checks", "composer_output"])
def test_required_v2_audit_fields_are_present(key: str) -> None:
    for change in (lambda trace: evaluation(trace).pop(key), lambda trace: evaluation(trace).update({key: None})):
        row = score(V2, change)
        assert (row.verdict, row.axes["F"]) == ("FAIL", "fail")
        assert f"selfEvaluation.verifier_evaluation.{key} is missing, expected it on record" in row.reasons


def test_gatekeeper_failure_cannot_pass_verification() -> None:
    def fail(trace: dict[str, Any]) -> None:
        evaluation(trace)["gatekeeper_result"] = {"status": "fail", "reasons": ["no binding"]}

    for case in (V2, "D7-certificate-expiry"):  # also where no audit chain is asked for
        row = score(case, fail)
        told = "selfEvaluation.verifier_evaluation.verdict is 'pass' although gatekeeper_result.status is 'fail'"
        assert (row.verdict, row.axes["F"], row.reasons) == ("FAIL", "fail", (told,))
    assert score("D10-insufficient-evidence", fail).verdict == "PASS"


def test_claim_checks_are_auditable() -> None:
    for key in ("claim_id", "verification", "detail"):
        row = score(V2, lambda trace, key=key: evaluation(trace)["claim_checks"][1].pop(key))
        assert row.reasons == (f"claim_checks/1/{key} is missing, expected text",)
    row = score(V2, lambda trace: evaluation(trace)["claim_checks"][0].update(verification="likely"))
    told = f"claim_checks/0/verification is 'likely', expected one of {', '.join(VERIFICATIONS)}"
    assert row.reasons == (told,)
    for value in VERIFICATIONS:
        change = lambda trace, value=value: evaluation(trace)["claim_checks"][0].update(verification=value)  # noqa: E731
        assert score(V2, change).verdict == "PASS"


def test_composer_output_is_auditable() -> None:
    for mode, verdict in (("parsed", "PASS"), ("fallback", "PASS"), ("raw", "FAIL"), (None, "FAIL")):
        row = score(V2, lambda trace, mode=mode: evaluation(trace)["composer_output"].update(mode=mode))
        assert row.verdict == verdict
        assert row.info.get("composer") == (mode if verdict == "PASS" else None)


def test_unsupported_final_answer_claim_is_rejected() -> None:
    row = score("D2-oom-kill", says("This is a confirmed memory leak."))
    assert row.reasons == ("finalAnswer states the unsupported claim 'confirmed memory leak', expected it absent",)


DRESSES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "capitals": str.upper,
    "code fence": lambda text: f'```json\n{{"{text}": 1}}\n```',
    "inline code": lambda text: f"`{text}`",
    "zero-width": lambda text: "\u200b".join(text),
    "soft hyphens": lambda text: "\u00ad".join(text),
    "direction marks": lambda text: "\u2066" + "\u200f".join(text) + "\u2069",
    "full width": lambda text: "".join(chr(ord(char) + 0xFEE0) for char in text),
    "emphasis": lambda text: f"**{text[:4]}**{text[4:]}",
    "escaped": lambda text: text.replace("_", "\\_"),
    "entities": lambda text: text.replace("_", "&#95;"),
    "camel case": lambda text: text.title().replace("_", ""),
    "hyphens": lambda text: text.replace("_", "-"),
    "another hyphen": lambda text: text.replace("_", "\u2011"),
    "dash": lambda text: text.replace("_", "–"),
    "minus": lambda text: text.replace("_", "\u2212"),
    "another underscore": lambda text: text.replace("_", "\u203f"),
    "space before": lambda text: text.replace("_", " _"),
    "line break before": lambda text: text.replace("_", "\n_"),
    "spaces around": lambda text: text.replace("_", " _ "),
    "twice": lambda text: text.replace("_", "__"),
    "tag": lambda text: text.replace("_", "<wbr>_"),
    "tags alone": lambda text: text.replace("_", "<wbr/>"),
    "tag within": lambda text: f"{text[:3]}<b class='x'>{text[3:]}</b>",
    "comment": lambda text: text.replace("_", "<!-- x -->_"),
    "in a tag": lambda text: f"<a title='{text}'>x</a>",
    "JSON escape": lambda text: f'{{"{text}": 1}}'.replace("_", "\\u005f"),
    "numbered": lambda text: f"{text}1",
    "singular": lambda text: text.removesuffix("s"),
    "without version": lambda text: f'```json\n{{"{text.removesuffix("_v2")}": {{"claims": []}}}}\n```',
    "another version": lambda text: text.replace("_v2", "_v3"),
    "plural": lambda text: f"{text}s",
    "inside a path": lambda text: f"executor.{text}[0]",
    "before Chinese": lambda text: f"见{text}字段",
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("marker", MARKERS)
def test_raw_executor_json_is_not_user_facing(marker: str, dress: str) -> None:
    row = score(V2, says(DRESSES[dress](marker)))
    assert (row.verdict, row.axes["F"]) == ("FAIL", "fail")
    assert row.reasons == (f"finalAnswer shows the raw protocol marker '{marker}', expected it absent",)


@pytest.mark.parametrize(
    "text",
    [
        *("claim identity", "this claim, id 4", "answer versions differ", "evidence binding", "the claim id card"),
        *("the claim <b>id</b> card", "claim<br>id 4", "the claim – id 4 – is open", "a claim\n\n- id 4", "claim\nid"),
        *("the executor evidence", "reclaim_id", "claim_idea", "claim, _id_ included", "claim < id, id > claim"),
    ],
)
def test_words_that_only_resemble_a_marker_are_none(text: str) -> None:
    assert score(V2, says(text)).verdict == "PASS"


@pytest.mark.parametrize("marker", MARKERS)
def test_composer_fallback_still_avoids_raw_json_leakage(marker: str) -> None:
    assert evaluation(saved("D11-disk-full"))["composer_output"]["mode"] == "fallback"
    row = score("D11-disk-full", says(f'{{"{marker}": "f1"}}'))
    assert (row.verdict, row.info["composer"], row.info["failed"]) == ("FAIL", "fallback", "F:no_raw_markers")


def test_an_empty_answer_shows_neither_good_nor_bad() -> None:
    """What must be said is missing; what must not be said cannot be told from nothing."""
    row = score("D2-oom-kill", answers(" \u200b\n"))
    assert row.verdict == "FAIL"
    assert (row.axes["C"], row.axes["D"], row.axes["F"]) == ("fail", "undecided", "undecided")
    item = scenario.find("D2-oom-kill")
    axes = {"A": {"no_raw_markers": {}}}
    from dataclasses import replace

    alone = scoring.score(
        Context(replace(item, axes=axes), trace_or_fault={**saved(item.id), "finalAnswer": ""}), "m", 1
    )
    assert (alone.verdict, alone.code) == ("ERROR", "no-result")


def test_figures_that_are_absent_are_not_zero() -> None:
    row = score("D9-dns-failure")
    assert "ms" not in row.info and row.info["tools"] == "3"
    row = score("D2-oom-kill", lambda trace: (trace.pop("toolInvocations"), trace.update(durationMs=0)))
    assert "tools" not in row.info and row.info["ms"] == "0"


def test_the_row_names_the_checks_that_failed_and_the_case() -> None:
    row = score(V2, lambda trace: (evaluation(trace).pop("claim_checks"), says("claim_id")(trace)))
    assert row.info["failed"] == "F:audit_closed,F:claims_audited,F:no_raw_markers"
    assert row.info["agent"] == "trace" and len(row.info["case"]) == 12

"""Enumerations are closed, the audit chain has no loose end, and only what was called is evidence."""

from typing import Any

import pytest
from tracing import evaluation, score

V2 = "D3-slow-sql"
WHERE = "selfEvaluation.verifier_evaluation.gatekeeper_result.status"


@pytest.mark.parametrize("status", ["failed", "banana", "passed", "", None])
@pytest.mark.parametrize("verdict", ["PASS", "PARTIAL"])
def test_a_status_that_the_gatekeeper_cannot_give_closes_nothing(status: str | None, verdict: str) -> None:
    def change(trace: dict[str, Any]) -> None:
        evaluation(trace).update(gatekeeper_result={"status": status}, verdict=verdict)

    row = score(V2, change)
    found = f"is '{status}'" if status else "is missing"
    assert row.reasons == (f"{WHERE} {found}, expected pass or fail",)


def test_a_gatekeeper_without_a_status_closes_nothing() -> None:
    for case in (V2, "D7-certificate-expiry"):
        row = score(case, lambda trace: evaluation(trace).update(gatekeeper_result={}))
        assert (row.verdict, row.reasons) == ("FAIL", (f"{WHERE} is missing, expected pass or fail",))


def test_a_gatekeeper_that_passed_or_failed_is_read_in_any_letters() -> None:
    row = score(V2, lambda trace: evaluation(trace).update(gatekeeper_result={"status": " Pass "}))
    assert row.verdict == "PASS"


def test_a_claim_check_belongs_to_a_claim_and_each_claim_has_one() -> None:
    def only(trace: dict[str, Any]) -> None:
        evaluation(trace)["claim_checks"] = [{"claim_id": "zzz", "verification": "supported", "detail": "yes"}]

    row = score(V2, only)
    assert row.axes["F"] == "fail"
    assert row.reasons == (
        "claim_checks/0/claim_id is 'zzz', expected a claim of the executor: c1, c2, c3",
        "claim_checks has no entry for the claim 'c1'",
        "claim_checks has no entry for the claim 'c2'",
        "claim_checks has no entry for the claim 'c3'",
    )
    row = score(V2, lambda trace: evaluation(trace)["claim_checks"].pop(1))
    assert row.reasons == ("claim_checks has no entry for the claim 'c2'",)
    row = score(V2, lambda trace: trace["executor"].pop("executor_evidence_v2"))
    assert row.verdict == "PASS"  # no claim on record that a check could belong to


def test_a_claim_is_supported_when_all_its_checks_say_so() -> None:
    def twice(trace: dict[str, Any]) -> None:
        evaluation(trace)["claim_checks"].append({"claim_id": "s1", "verification": "supported", "detail": "no"})
        told = "The index migration dropped documents of some customers."
        trace["finalAnswer"] += f"\n\n{told}"

    assert score("D12-contradicted-claim", twice).axes["E"] == "fail"


TOLD = [
    "query_slow_log: 4,812 rows",
    "query_slow_log 返回 4,812 行",
    "query_slow_log 没有数据",
    "query_slow_log 未返回数据",
    "the call of query_slow_log failed",
    "query_slow_log was called, query_traces was never called",
    "query_traces was not called but query_slow_log was",
    "query_traces was skipped and query_slow_log was read",
    "query_slow_log found nothing; query_traces was not run",
    "未调用 query_traces，query_slow_log 已确认",
    {"query_slow_log": "4812 rows"},
    {"query_slow_log": {"rows": 4812}},
    {"tools": ["query_slow_log"]},
    {"query_slow_log": True},
    {"query_slow_log": 0},
    {"tool": "query_slow_log", "success": False},
    {"tool": "query_slow_log", "summary": "no rows"},
]
NOT_CALLED = [
    "query_slow_log was never called",
    "query_slow_log has not been called",
    "query_slow_log wasn't run",
    "explain_sql was run and query_slow_log was not used",
    "the agent did not call query_slow_log",
    "without calling query_slow_log",
    "query_slow_log, which the case needs, was never called",
    "query_slow_log was skipped",
    "no call to query_slow_log",
    "query_slow_log should have been called",
    "query_slow_log 未被调用",
    "没有调用 query_slow_log",
    "跳过了 query_slow_log",
    "应调用 query_slow_log",
    "query_slow_log 未调用，explain_sql 已确认",
    {"query_slow_log": "never called"},
    {"query_slow_log": None},
    {"query_slow_log": False},
    {"query_slow_log": []},
    {"tool": "query_slow_log", "called": False},
    {"tool": "query_slow_log", "summary": "was never called"},
]


def _told(summary: Any) -> Any:
    def change(trace: dict[str, Any]) -> None:
        trace["toolInvocations"] = [call for call in trace["toolInvocations"] if call["tool"] != "query_slow_log"]
        evaluation(trace)["summaries"] = ["explain_sql and query_metrics agree", summary]

    return score(V2, change)


@pytest.mark.parametrize("summary", TOLD, ids=str)
def test_a_summary_that_tells_of_a_call_is_evidence(summary: Any) -> None:
    assert _told(summary).verdict == "PASS"


@pytest.mark.parametrize("summary", NOT_CALLED, ids=str)
def test_a_summary_that_denies_the_call_is_none(summary: Any) -> None:
    row = _told(summary)
    assert (row.verdict, row.info["uncovered"]) == ("FAIL", "query_slow_log")


def test_the_answer_to_another_question_is_told() -> None:
    row = score(V2, lambda trace: trace.update(question="Why is the build slow?"))
    assert (row.verdict, row.info["question"]) == ("PASS", "other")
    assert "question" not in score(V2).info

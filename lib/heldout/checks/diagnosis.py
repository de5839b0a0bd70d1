"""Check words of the suite diagnosis: what an operations-diagnosis agent gathered, concluded, audited and told.

They read one saved trace (fixture/diagnosis/trace.schema.json). Verdict words of a trace are its verifier's own, told
in small letters; null stands for absent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from heldout.checks import notices, summaries
from heldout.checks.denials import Block, blocks, said
from heldout.checks.keywords import plain, words
from heldout.checks.markers import shown
from heldout.checks.words import Argument, Context, Finding, fails, optional, passes, word
from heldout.errors import Fault

EVALUATION = "selfEvaluation.verifier_evaluation"
# What a verifier may say of a claim.
VERIFICATIONS = ("supported", "partially_supported", "unsupported", "contradicted", "unverifiable")
STATUSES = ("pass", "fail")
MODES = ("parsed", "fallback")
MARKERS = ("executor_evidence_v2", "answer_version", "evidence_bindings", "claim_id")
RUN = 10  # words in a row that are no coincidence
SHORT = 4  # words of a claim that can be recognised at all


@word("trace", tools=Argument("texts"))
def evidence_gathered(context: Context, tools: list[str]) -> Finding:
    """Every tool of TOOLS was called (toolInvocations), or a summary of the verifier tells of its call."""
    trace = context.trace
    called = {_name(item["tool"]) for item in _list(trace, "toolInvocations")}
    told = summaries.told(_evaluation(trace).get("summaries"))
    uncovered = [tool for tool in tools if _name(tool) not in called and not _mentioned(tool, told)]
    covered = [tool for tool in tools if tool not in uncovered]
    info = {"covered": ",".join(covered), "uncovered": ",".join(uncovered), **_figures(context)}
    if uncovered:
        names = ", ".join(item["tool"] for item in _list(trace, "toolInvocations")) or "none"
        reasons = (
            f"toolInvocations and summaries lack the evidence tool '{tool}', called: {names}" for tool in uncovered
        )
        return fails(*reasons, info=info)
    asked = ["the trace answers another question than the case's"] if "question" in info else []
    return passes(f"gathered evidence with {', '.join(tools)}", *asked, info=info)


def _figures(context: Context) -> dict[str, str]:
    """Cost of the trace, where it is on record, and whether it answers the case's own question."""
    trace = context.trace
    figures = {"tools": str(len(trace["toolInvocations"]))} if trace.get("toolInvocations") is not None else {}
    if trace.get("durationMs") is not None:
        figures["ms"] = str(round(trace["durationMs"]))
    if plain(trace["question"]) != plain(context.scenario.task):
        figures["question"] = "other"
    return figures


@word("trace", allowed=Argument("texts"), forbidden=optional("texts", ()))
def agent_verdict_in(context: Context, allowed: list[str], forbidden: list[str]) -> Finding:
    """The verifier's verdict exists, is one of ALLOWED and none of FORBIDDEN; letter case aside."""
    verdict = _verdict(context.trace)
    expected = f"expected one of {', '.join(allowed).lower()}"
    if not verdict:
        return fails(f"{EVALUATION}.verdict is missing, {expected}")
    info = {"agent_verdict": verdict}
    if verdict in map(str.lower, forbidden):
        return fails(f"{EVALUATION}.verdict is the forbidden '{verdict}', {expected}", info=info)
    if verdict not in map(str.lower, allowed):
        return fails(f"{EVALUATION}.verdict is '{verdict}', {expected}", info=info)
    return passes(f"{EVALUATION}.verdict is '{verdict}'", info=info)


@word("trace", keywords=Argument("alternatives"), minimum=Argument("number"))
def root_cause_named(context: Context, keywords: dict[str, list[str]], minimum: int) -> Finding:
    """The final answer has at least MINIMUM of KEYWORDS, each named and given as spellings of which one is enough.

    What an answer only asks, denies, rules out or warns against is none that it has.
    """
    if not 0 < minimum <= len(keywords):
        raise Fault("check-error", f"minimum {minimum} of {len(keywords)} keywords")
    answer = blocks(context.trace["finalAnswer"])
    missing = [name for name, spellings in keywords.items() if not _named(spellings, answer)]
    count = len(keywords) - len(missing)
    info = {"keywords": f"{count}/{len(keywords)}"}
    told = f"finalAnswer has {count} of {len(keywords)} root-cause keywords, expected {minimum}"
    return fails(f"{told}, without {', '.join(missing)}", info=info) if count < minimum else passes(told, info=info)


def _named(spellings: list[str], answer: Iterable[Block]) -> bool:
    return any(said(item, block) for item in spellings for block in answer)


@word("trace", keywords=optional("keywords", ()), claims=optional("keywords", ()))
def answer_avoids(context: Context, keywords: list[str], claims: list[str]) -> Finding:
    """The final answer has none of the forbidden KEYWORDS, and states none of CLAIMS, which nothing supports.

    What it denies, rules out or warns against it does not say, and a claim that it leaves open it does not state. 'We
    cannot say what the root cause is' has no 'root cause is'.
    """
    _answer(context)
    answer = [block.with_sentences(notices.stated) for block in blocks(context.trace["finalAnswer"])]
    forbidden = (("has the forbidden keyword", keywords, True), ("states the unsupported claim", claims, False))
    reasons = [
        f"finalAnswer {what} '{item}', expected it absent"
        for what, items, open_too in forbidden
        for item in items
        if any(said(item, block, open_too=open_too) for block in answer)
    ]
    return fails(*reasons) if reasons else passes("finalAnswer has nothing forbidden")


@word("trace")
def degraded_if_rejected(context: Context) -> Finding:
    """On the verdict REJECT the final answer says that it knows no cause and repeats no unverified executor answer.

    Repeating is ten words in a row, or a whole shorter claim, of the executor's draft or of a claim that no claim check
    found supported; what the question or a supported claim says too may be repeated.
    """
    if _verdict(context.trace) != "reject":
        return passes("nothing was rejected")
    answer, reasons = _answer(context), list[str]()
    if not notices.given(answer):
        reasons.append("finalAnswer to a rejected diagnosis does not say that it could not be established")
    reasons += [f"finalAnswer repeats the unverified executor answer: '{told}'" for told in _repeated(context.trace)]
    return fails(*reasons) if reasons else passes("finalAnswer keeps the degraded-output contract")


def _repeated(trace: Mapping[str, Any]) -> Iterator[str]:
    """The start of each unverified text of the executor that the final answer repeats."""
    evidence = _mapping(_mapping(trace, "executor"), "executor_evidence_v2")
    checks = _list(_evaluation(trace), "claim_checks")
    doubted = {_id(item) for item in checks if _word(item.get("verification")) != "supported"}
    supported = {_id(item) for item in checks} - doubted
    claims = [(_id(item) in supported, item.get("statement")) for item in _list(evidence, "claims")]
    allowed = [trace["question"], *(text for fine, text in claims if fine)]
    for text in (evidence.get("answer"), *(text for fine, text in claims if not fine)):
        size = min(RUN, len(words(plain(text or ""))))
        if size >= SHORT:
            said = _runs(text, size) & _runs(trace["finalAnswer"], size)
            yield from sorted(" ".join(run) for run in said.difference(*(_runs(item, size) for item in allowed)))[:1]


def _runs(text: str | None, size: int) -> set[tuple[str, ...]]:
    """All runs of `size` words of a text."""
    found = words(plain(text or ""))
    return {tuple(found[place : place + size]) for place in range(len(found) - size + 1)}


@word("trace")
def audit_closed(context: Context) -> Finding:
    """The V2 audit chain is on record: gatekeeper_result, claim_checks and composer_output exist."""
    evaluation = _evaluation(context.trace)
    missing = [key for key in ("gatekeeper_result", "claim_checks", "composer_output") if evaluation.get(key) is None]
    reasons = (f"{EVALUATION}.{key} is missing, expected it on record" for key in missing)
    return fails(*reasons) if missing else passes("the audit chain is on record")


@word("trace")
def gatekeeper_obeyed(context: Context) -> Finding:
    """A gatekeeper on record says pass or fail, and where it says fail, the verdict is not PASS."""
    if _evaluation(context.trace).get("gatekeeper_result") is None:
        return passes("no gatekeeper is on record")
    status = _word(_mapping(_evaluation(context.trace), "gatekeeper_result").get("status"))
    if status not in STATUSES:
        found = f"is '{status}'" if status else "is missing"
        return fails(f"{EVALUATION}.gatekeeper_result.status {found}, expected {' or '.join(STATUSES)}")
    verdict = _verdict(context.trace)
    if status == "fail" and verdict == "pass":
        return fails(f"{EVALUATION}.verdict is 'pass' although gatekeeper_result.status is 'fail'")
    return passes(f"gatekeeper_result.status '{status}', verdict '{verdict}'")


@word("trace")
def claims_audited(context: Context) -> Finding:
    """There is a claim check, and each has claim_id, verification (a value of the verifier's contract) and detail.

    Where the executor's claims are on record, each check belongs to one of them, and each of them has a check.
    """
    checks = _list(_evaluation(context.trace), "claim_checks")
    reasons: list[str] = [] if checks else [f"{EVALUATION}.claim_checks has no entry, expected one a claim"]
    for place, item in enumerate(checks):
        lacking = [key for key in ("claim_id", "verification", "detail") if not (item.get(key) or "").strip()]
        reasons += [f"claim_checks/{place}/{key} is missing, expected text" for key in lacking]
        if "verification" not in lacking and _word(item["verification"]) not in VERIFICATIONS:
            told = f"claim_checks/{place}/verification is '{item['verification']}'"
            reasons.append(f"{told}, expected one of {', '.join(VERIFICATIONS)}")
    reasons += _loose_ends(context.trace, checks)
    return fails(*reasons) if reasons else passes(f"{len(checks)} claim checks are auditable")


def _loose_ends(trace: Mapping[str, Any], checks: list[Any]) -> Iterator[str]:
    """Checks of no claim of the executor and claims without a check, where the executor's claims are on record."""
    evidence = _mapping(_mapping(trace, "executor"), "executor_evidence_v2")
    claims = [name for item in _list(evidence, "claims") if (name := _id(item))]
    checked = [_id(item) for item in checks]
    for place, name in enumerate(checked):
        if claims and name and name not in claims:
            told = f"claim_checks/{place}/claim_id is '{name}'"
            yield f"{told}, expected a claim of the executor: {', '.join(claims)}"
    if checked and all(checked):  # otherwise it cannot be told which claim lacks one
        yield from (f"claim_checks has no entry for the claim '{name}'" for name in claims if name not in checked)


@word("trace")
def composer_recorded(context: Context) -> Finding:
    """composer_output.mode says whether the parsed output or the fallback rendering became the answer."""
    mode = _word(_mapping(_evaluation(context.trace), "composer_output").get("mode"))
    if mode not in MODES:
        found = f"is '{mode}'" if mode else "is missing"
        return fails(f"{EVALUATION}.composer_output.mode {found}, expected {' or '.join(MODES)}")
    return passes(f"the composer's output was {mode}", info={"composer": mode})


@word("trace", markers=optional("keywords", MARKERS))
def no_raw_markers(context: Context, markers: list[str]) -> Finding:
    """The final answer shows no raw protocol marker, in any letter case or spelling (claim_id, claimId, claim-id)."""
    _answer(context)
    found = shown(markers, context.trace["finalAnswer"])
    reasons = (f"finalAnswer shows the raw protocol marker '{marker}', expected it absent" for marker in found)
    return fails(*reasons) if found else passes("finalAnswer shows no raw protocol marker")


def _answer(context: Context) -> str:
    """The final answer, for what must not stand in it: an empty one shows nothing."""
    answer = plain(context.trace["finalAnswer"])
    if not answer:
        raise Fault("no-result", "finalAnswer is empty")
    return answer


def _verdict(trace: Mapping[str, Any]) -> str:
    return _word(_evaluation(trace).get("verdict"))


def _evaluation(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(_mapping(trace, "selfEvaluation"), "verifier_evaluation")


def _mapping(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return owner.get(key) or {}


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    return owner.get(key) or []


def _id(item: Mapping[str, Any]) -> str:
    """The id of a claim or of its check."""
    return (item.get("claim_id") or "").strip()


def _word(value: str | None) -> str:
    return (value or "").strip().lower()


def _name(tool: str) -> str:
    return tool.strip().casefold()


def _mentioned(tool: str, text: str) -> bool:
    return _tool(tool).search(text.casefold()) is not None


@cache
def _tool(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9_-]){re.escape(_name(name))}(?![a-z0-9_-])")

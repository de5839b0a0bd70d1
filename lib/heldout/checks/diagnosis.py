"""Check words of the suite diagnosis: what an operations-diagnosis agent gathered, concluded, audited and told.

They read one saved trace (fixture/diagnosis/trace.schema.json). Verdict words of a trace are its verifier's own, told
in small letters; null stands for absent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from heldout.checks import causes, notices, summaries
from heldout.checks.denials import Block, blocks, denied, left_open, said
from heldout.checks.keywords import plain, words
from heldout.checks.markers import shown
from heldout.checks.words import Argument, Context, Finding, Slip, Use, fails, optional, passes, whole, word
from heldout.errors import Fault

EVALUATION = "selfEvaluation.verifier_evaluation"
# What a verifier may say of a claim.
VERIFICATIONS = ("supported", "partially_supported", "unsupported", "contradicted", "unverifiable")
STATUSES = ("pass", "fail")
MODES = ("parsed", "fallback")
MARKERS = ("executor_evidence_v2", "answer_version", "evidence_bindings", "claim_id")
RUN = 10  # words in a row that are no coincidence
REFUSED = {"unsupported", "contradicted", "unverifiable"}
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


def _allowable(use: Use) -> Iterator[Slip]:
    for verdict in {item.lower() for item in use.given["allowed"]} & {item.lower() for item in use.given["forbidden"]}:
        yield Slip(f"holds '{verdict}', which is allowed too", "forbidden")


@word("trace", slips=_allowable, allowed=Argument("texts"), forbidden=optional("texts", ()))
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


def _nameable(use: Use) -> Iterator[Slip]:
    known = use.given["keywords"]
    if use.given["minimum"] > len(known):
        yield Slip(f"is {use.given['minimum']} of {len(known)} keywords", "minimum")
    for argument, names in (("core", use.given["core"]), ("notice", [use.given["notice"]])):
        for name in names:
            if name and name not in known:
                yield Slip(f"names '{name}', which is none of the keywords {', '.join(known)}", argument)


@word(
    "trace",
    slips=_nameable,
    keywords=Argument("alternatives"),
    minimum=whole(1),
    core=optional("texts", ()),
    notice=optional("text", ""),
)
def root_cause_named(
    context: Context, keywords: dict[str, list[str]], minimum: int, core: list[str], notice: str
) -> Finding:
    """The final answer has at least MINIMUM of KEYWORDS, each named and given as spellings of which one is enough.

    What an answer only asks, denies, rules out or warns against is none that it has. Where it marks its cause ("Root
    cause: …"), what it marks has one of those named in CORE. The one named NOTICE is also had by any words that say
    that nothing could be established.
    """
    answer = blocks(context.trace["finalAnswer"])
    missing = [name for name, spellings in keywords.items() if not _named(spellings, answer)]
    if notice in missing and notices.given(plain(context.trace["finalAnswer"])):
        missing.remove(notice)
    count = len(keywords) - len(missing)
    info = {"keywords": f"{count}/{len(keywords)}"}
    told = f"finalAnswer has {count} of {len(keywords)} root-cause keywords, expected {minimum}"
    reasons = [f"{told}, without {', '.join(missing)}"] if count < minimum else []
    marked = causes.marked(answer)
    if core and marked and not any(_named(keywords[name], marked) for name in core):
        reasons.append(f"finalAnswer marks a cause without {' or '.join(core)}: '{marked[0].text[:60]}'")
    return fails(*reasons, info=info) if reasons else passes(told, info=info)


def _named(spellings: list[str], answer: Iterable[Block]) -> bool:
    return any(said(item, block) for item in spellings for block in answer)


def _avoidable(use: Use) -> Iterator[Slip]:
    if not (use.given["keywords"] or use.given["claims"]):
        yield Slip("has neither 'keywords' nor 'claims', so that every answer avoids them")


@word("trace", slips=_avoidable, keywords=optional("keywords", ()), claims=optional("keywords", ()))
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
    """On the verdict REJECT the final answer says that it knows no cause, and guesses and repeats none.

    Repeating is ten words in a row, or a whole shorter claim, of the executor's draft or of a claim that no claim check
    found supported; what the question or a supported claim says too may be repeated. On any other verdict a claim that
    a check found unsupported, contradicted or unverifiable is not repeated, unless as one that is not known to hold.
    """
    trace = context.trace
    claims = _claims(trace)
    if _verdict(trace) != "reject":
        refused = [text for text, found in claims if found & REFUSED and not left_open(plain(text))]
        told = [run for run in _repeated(trace, refused) if _tells(trace["finalAnswer"], run)]
        reasons = [f"finalAnswer repeats a claim that is not supported: '{' '.join(run)}'" for run in told]
        return fails(*reasons) if reasons else passes("nothing was rejected, and no refused claim is repeated")
    answer, reasons = _answer(context), list[str]()
    if not notices.given(answer):
        reasons.append("finalAnswer to a rejected diagnosis does not say that it could not be established")
    if guess := notices.guess(answer):
        reasons.append(f"finalAnswer to a rejected diagnosis guesses a cause: '{guess}'")
    draft = _mapping(_mapping(trace, "executor"), "executor_evidence_v2").get("answer")
    unverified = [draft or "", *(text for text, found in claims if found != {"supported"})]
    told = (" ".join(run) for run in _repeated(trace, unverified))
    reasons += [f"finalAnswer repeats the unverified executor answer: '{text}'" for text in told]
    return fails(*reasons) if reasons else passes("finalAnswer keeps the degraded-output contract")


def _claims(trace: Mapping[str, Any]) -> list[tuple[str, set[str]]]:
    """Each claim of the executor with what its checks found."""
    evidence = _mapping(_mapping(trace, "executor"), "executor_evidence_v2")
    checks = [(_id(item), _word(item.get("verification"))) for item in _list(_evaluation(trace), "claim_checks")]
    claims = ((_id(item), item.get("statement") or "") for item in _list(evidence, "claims"))
    return [(text, {found for name, found in checks if name == claim}) for claim, text in claims]


def _repeated(trace: Mapping[str, Any], texts: list[str]) -> Iterator[tuple[str, ...]]:
    """The first run of words that the final answer repeats of each text, and that it may not repeat."""
    allowed = [trace["question"], *(text for text, found in _claims(trace) if found == {"supported"})]
    for text in texts:
        size = min(RUN, len(words(plain(text))))
        if size >= SHORT:
            said = _runs(text, size) & _runs(trace["finalAnswer"], size)
            yield from sorted(said.difference(*(_runs(item, size) for item in allowed)))[:1]


def _tells(answer: str, run: tuple[str, ...]) -> bool:
    """Whether an answer tells a run of its words as what holds: not denied, not left open."""
    pattern = re.compile(r"\W*".join(map(re.escape, run)))
    told = [
        (text, *match.span())
        for block in blocks(answer)
        for text in block.sentences
        for match in pattern.finditer(text)
    ]
    return not told or any(not denied(*place) and not left_open(*place) for place in told)


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

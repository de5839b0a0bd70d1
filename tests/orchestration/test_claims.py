"""Which concepts a report names: other texts than the phrases, whole reports, and what `claimed` cuts and leaves."""

from pathlib import Path

import pytest
from heldout import scenario
from heldout.checks import claims, lint
from heldout.checks.patterns import missing
from heldout.errors import Fault

SAID = [
    tuple(line.split("\t")) for line in Path(__file__).with_name("said.tsv").read_text("utf-8").splitlines()[1:]
]  # concept, match or miss, text
SETS = {
    name.rsplit("/", 1)[1]: (patterns, reads)
    for short in ("E1P-pipeline-review", "E3P-dropped-events", "E3P-retry-storm")
    for name, patterns, reads in lint.pattern_sets(scenario.find(short))
}

POST_MORTEM = """## What happened on 4 July

**Timeline (UTC)**
- 09:38:12 – a 29.8 MB `inventory.snapshot` (evt_345087) is accepted.
- 09:38:31 – the worker that renders its XML for Atlas ERP exits with code 1. No other job was affected yet.
- 09:46:48 – after eleven restarts the pool is at 0/6; nothing is delivered from here on.
- 10:51:41 – the queue is at 5,000 of 5,000.
- 10:51–10:56 – 302 events are acknowledged with 202 but dropped.

No events were dropped before 10:51, and the other days show no losses. I ruled out Coldstore's outage of 1 July."""
CHAIN = """One oversized snapshot killed the worker threads one by one. With none of them left the queue wasn't drained,
so it filled to its cap, and since overflow is set to drop, intake discarded what came in. Nobody noticed."""
STORM = """1. auth: 503 from the token endpoint → refresh fails, expired token kept
2. delivery: every call → 401. No 401 was seen before that, and the rotated secret of 5 July is not the cause.
3. a 401 is retried straight away and does not use up an attempt → request storm, ~60k/h
4. Harbourpay → 429"""
NOTHING = """On 1 July Coldstore answered 503 for an hour; the workers retried with growing pauses and all events were
delivered. On 3 July the depth rose for a minute. On 6 July Bellringer was down. No worker crashed, the queue never
filled, nothing was lost, no token had expired, there was not a single 401, and I found no sign of a retry storm."""
FIRST, SECOND = ["worker-death", "queue-backup", "dropped-events"], ["token-expiry", "unauthorised-401", "retry-storm"]


def named(text: str) -> list[str]:
    return [name for name, (patterns, reads) in SETS.items() if not missing(patterns, reads(text))]


@pytest.mark.parametrize(("concept", "kind", "text"), SAID)
def test_a_text_names_a_concept_or_does_not(concept: str, kind: str, text: str) -> None:
    assert (concept in named(text)) is (kind == "match")


def test_there_are_enough_texts_of_both_kinds() -> None:
    for concept in SETS:
        assert min(sum(row[:2] == (concept, kind) for row in SAID) for kind in ("match", "miss")) >= 10


@pytest.mark.parametrize(
    ("text", "concepts"),
    [(POST_MORTEM, FIRST), (CHAIN, FIRST), (STORM, SECOND), (NOTHING, [])],
    ids=["post-mortem", "chain", "storm", "nothing"],
)
def test_a_whole_report_names_what_it_claims(text: str, concepts: list[str]) -> None:
    assert named(text) == concepts


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("No worker died, all were busy.", ". , all were busy."),
        ("I ruled out a crash: all threads ran.", "I . : all threads ran."),
        ("The full queue was not the cause, the token was.", ". , the token was."),
        ("No events or jobs were lost or dropped.", ". ."),
        ("Had a worker died, we would know.", ". ."),
        ("If it had retried, `wait_ms=0` would be there, and it is not.", ". , and it is not."),
        ("Did a worker die? No idea.", ". No idea."),
        ("The answer was perhaps a 401; the token may be fine.", "The answer was . ; the token . ."),
        ("In theory an event could be dropped, e.g. at a restart.", ". , e.g at a restart."),
        ("Our intake refused five publishers with 401 (no token).", ". (no token)."),
        ("- lost events: 302\n- was it full? No.", "- lost events: 302 - . No."),
        ("Intake: six refusals, all with 401. The target sent 503.", ". . The target sent 503."),
        ("Rates dropped from 90 to 12.", "Rates . to 12."),
        ("See line 401.", "See . ."),
    ],
)
def test_what_is_denied_or_meant_otherwise_is_cut(text: str, left: str) -> None:
    assert claims.claimed(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "None of the six workers was left.",
        "The token was not renewed before 14:47.",
        "Nobody noticed the dropped events.",
        "No event was lost before 10:51.",
        "The full queue was not the root cause but a consequence of it.",
        "There was no wait after a 401.",
        "302 events were dropped by 10:56, and not only delayed but lost.",
        "Not all of the jobs were lost.",
        "Why did the workers die? Of one event.",
        "Were events dropped? Yes, 302.",
        "Were events dropped? 302 of them.",
        "`retryable?` says yes to a 401, and the jobs loop.",
        "About 160 orders, perhaps a few more, were lost.",
        "No new token could be fetched, and each call ended in 401.",
        "Publishers got their 202, and the target answered 401.",
        "live 0/6 -> queue full",
    ],
)
def test_a_negation_that_denies_nothing_stays(text: str) -> None:
    assert claims.claimed(text) == text


def test_a_text_that_takes_too_long_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "TIMEOUT", 1e-6)
    with pytest.raises(Fault, match="what a text claims took over") as caught:
        claims.claimed("no " * 50_000)
    assert caught.value.code == "check-error"


HEADED = """4 July, 09:38 to 10:56.

## Hypotheses I looked at
1. Worker threads died.
2. The queue was full. Confirmed: 5,000 of 5,000.

**Ruled out**
- events were lost

## Open
I do not know."""


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        (
            "Possible causes: (a) worker threads died, (b) the queue overflowed, (c) events were dropped.",
            [],
        ),
        ("Possible causes: (a) Worker threads died. (b) The queue was full. Then 302 events were dropped.", FIRST[2:]),
        ("Hypotheses I discarded: worker threads died; the queue was full; events were dropped.", []),
        (
            "I see three possible explanations:\n\n- workers died\n- the queue was full\n\n302 events were lost.",
            FIRST[2:],
        ),
        (HEADED, ["queue-backup"]),
        ("**Ruled out:** workers died. The queue was full.", ["queue-backup"]),
        ("- Ruled out: workers died.\n- The queue was full.", ["queue-backup"]),
        (
            "A worker may have crashed, the queue might be full. Perhaps events were dropped; I guess jobs were lost.",
            [],
        ),
        ("I did not check whether workers died or the queue was full.", []),
        ("The loss of 302 events could have been prevented. The queue was full, which may have been seen.", FIRST[1:]),
        ("302, perhaps 303, events were dropped.", FIRST[2:]),
        ("What might have led to it:\n\n1. The workers died.\n2. Or the queue was full.\n\nWho knows.", []),
        ("## What may be lost\n302 events were dropped.", FIRST[2:]),
        ("Not verified:\n- workers died\n\n## Unrelated\nA queue was full.\n\n## Not found\n- drops", []),
        ("- no consumers -> jobs pile up\n- depth 72 (09:48) -> 844 (09:58) -> 5000 (10:51:45)", FIRST[1:2]),
        ("The most likely cause: the worker threads died.", FIRST[:1]),
        (
            "4 July: threads were OOM-killed eleven times, live=0/6.\n\nQueue: 5,000/5,000 at 10:51.\n\nDropped: 302.",
            FIRST,
        ),
        ("| queue depth | 5,000 of 5,000 |\n| dropped | 302 |", FIRST[1:]),
        ("Dropped: 0. Drops: 12 %.", []),
    ],
)
def test_a_concept_counts_where_it_is_claimed_and_not_where_it_is_guessed(text: str, concepts: list[str]) -> None:
    assert [name for name in named(text) if name in FIRST] == concepts

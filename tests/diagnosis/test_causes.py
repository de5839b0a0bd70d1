"""A cause that an answer marks, a guess after a rejection, and a claim that is repeated although a check refused it."""

import pytest
from heldout.checks import notices
from heldout.checks.causes import marked
from heldout.checks.denials import blocks
from heldout.checks.keywords import plain
from tracing import answers, evaluation, says, score

MARKED = [
    ("**Root cause:** the disk is full.\n\nMore.", ["root cause: the disk is full."]),
    ("Seen at 2.\n\n## Root cause\nThe disk.\nIt is full.\n\nMore.", ["the disk. it is full."]),
    ("**Root cause**\n\n- the disk\n- the job\n\nMore.", ["- the disk", "- the job"]),
    ("Root cause:\n- the disk", ["root cause: - the disk"]),
    ("The most likely root cause is the disk. More.", ["the most likely root cause is the disk. more."]),
    ("根因：磁盘写满。\n\n详情", ["根因:磁盘写满。"]),
    ("## 根因分析\n磁盘写满。", ["磁盘写满。"]),
    ("直接原因是磁盘写满。", ["直接原因是磁盘写满。"]),
    ("**根因**：磁盘写满。\n**处理**：清理。", ["根因:磁盘写满。"]),
    ("**根因：**\n\n磁盘写满。\n\n详情", ["根因:磁盘写满。"]),
    ("The disk is full.", []),
    ("We looked for the root cause: nothing.", []),
    ("The root cause analysis took an hour.", []),
]
GUESSES = [
    *(
        "Most likely the migration lost some.",
        "In all likelihood, the pool was full.",
        "更像是网关繁忙。",
        "很可能是连接池满了。",
    ),
    *("It is unknown, but very likely the gateway.", "大概率网关重启过。"),
]
NO_GUESSES = [
    "It is most likely unrelated to the migration.",
    *(
        "It was most likely not the migration.",
        "The CDN logs will most likely tell.",
        "Most likely nothing can be found.",
    ),
    *(
        "We cannot say what is most likely.",
        "很可能无法恢复。",
        "CDN 日志很可能有助于判断。",
        "更像是与迁移无关。",
        "不能说哪个最可能。",
        "",
    ),
]
CLAIM = "the clean-up job was never installed on s2 and s4"


@pytest.mark.parametrize(("answer", "found"), MARKED)
def test_a_marked_cause_is_found(answer: str, found: list[str]) -> None:
    assert [block.text for block in marked(blocks(answer))] == found


def test_a_marked_cause_must_be_one_of_the_case() -> None:
    rest = "\n\nOOMKilled at the memory limit while the export of tenant 4410 ran."
    assert score("D2-oom-kill", answers(f"Root cause: a bad node.{rest}")).axes["C"] == "fail"
    assert score("D2-oom-kill", answers(f"Root cause: not the export, but a bad node.{rest}")).axes["C"] == "fail"
    assert score("D2-oom-kill", answers(f"Root cause: a large export.{rest}")).verdict == "PASS"
    assert score("D2-oom-kill", answers(f"A bad node.{rest}")).verdict == "PASS"  # nothing is marked


@pytest.mark.parametrize("text", GUESSES)
def test_a_guess_in_spite_of_a_rejection_fails(text: str) -> None:
    assert notices.guess(plain(text))
    row = score("D12-contradicted-claim", says(text))
    assert row.axes["E"] == "fail"
    assert score("D9-dns-failure", says(text)).axes["E"] == "pass"  # nothing was rejected


@pytest.mark.parametrize("text", NO_GUESSES)
def test_what_is_no_guess_of_a_cause(text: str) -> None:
    assert not notices.guess(plain(text))


@pytest.mark.parametrize("verification", ["unsupported", "contradicted", "unverifiable", "Unsupported "])
@pytest.mark.parametrize("verdict", ["PASS", "PARTIAL"])
def test_a_claim_that_a_check_refused_is_not_repeated(verdict: str, verification: str) -> None:
    def change(trace: dict) -> None:
        evaluation(trace).update(verdict=verdict)
        evaluation(trace)["claim_checks"][2]["verification"] = verification
        says(f"Note: {CLAIM}.")(trace)

    row = score("D11-disk-full", change)
    assert row.axes["E"] == "fail"
    assert any(reason.startswith("finalAnswer repeats a claim that is not supported") for reason in row.reasons)


@pytest.mark.parametrize(
    "text",
    [
        f"Whether {CLAIM} is open.",
        f"It is not confirmed that {CLAIM}.",
        f"That {CLAIM} could not be established.",
        f"It is not true that {CLAIM}.",
    ],
)
def test_a_refused_claim_may_be_told_as_open(text: str) -> None:
    assert score("D11-disk-full", says(text)).verdict == "PASS"


def test_a_partially_supported_claim_may_be_repeated() -> None:
    assert (
        score("D6-message-backlog", says("The latency of the SMS gateway went from 90 ms to 2.6 s.")).verdict == "PASS"
    )

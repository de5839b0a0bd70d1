"""What an answer denies, rules out or warns against it does not say; what only looks so, it does."""

import pytest
from heldout.checks.denials import blocks, said
from tracing import answers, says, score

DENIED = [
    ("broker", "The broker is not the cause."),
    ("broker outage", "There is no broker outage."),
    ("memory leak", "It isn't a memory leak: flat."),
    ("memory leak", "It is not caused by a memory leak."),
    ("leak", "The restarts are not caused by a memory leak: flat"),
    ("coredns", "CoreDNS on n7 and n8 was suspected first, but it is not the cause: its"),
    ("release", "The release 5.12.0 of 16:07 can be ruled out: it"),
    ("5.12.0", "The release 5.12.0 of 16:07 can be ruled out: it"),
    (
        "eviction",
        "We looked at an eviction storm and at full memory on cache-2 as explanations and discarded both; Redis",
    ),
    (
        "memory",
        "We looked at an eviction storm and at full memory on cache-2 as explanations and discarded both; Redis",
    ),
    ("coupon.ttl", "规则缓存 `coupon.ttl` 与本次无关。"),
    ("querynode*", "querynode-1 的退出与此无关。"),
    ("缺少索引", "是等待连接造成的，不是缺少索引，也不存在全表扫描的问题"),
    ("全表扫描", "不是缺少索引，也不存在全表扫描的问题"),
    ("过期", "我们检查了证书过期这一可能，已排除：证书链有效。"),
    ("证书", "我们检查了证书过期这一可能，已排除：证书链有效。"),
    ("querynode", "querynode 全部正常，不存在内存不足。"),
    ("内存不足", "querynode 全部正常，不存在内存不足。"),
    ("证书", "证书没有过期，握手也没有问题。"),
    ("过期", "证书没有过期，握手也没有问题。"),
    ("握手", "证书没有过期，握手也没有问题。"),
    ("FLUSHALL", "Neither restart the instance nor empty it (FLUSHALL/FLUSHDB): every"),
    ("FLUSHDB", "**What not to do.** Neither restart the instance nor empty it (FLUSHALL/FLUSHDB): every"),
    ("flush … cache", "Whatever you do, don't flush cache-2, the DB can't"),
    ("FLUSHALL", "Never run `FLUSHALL` here."),
    ("FLUSHALL", "Do not, under any circumstances, run FLUSHALL."),
    ("FLUSHALL", "切勿执行 FLUSHALL"),
    ("关闭证书校验", "立即续签并部署，请勿让合作方关闭证书校验，加到期提醒"),
    ("the broker is down", "It is not true that the broker is down."),
    ("oom kill", "It is neither an OOM kill nor the export of tenant 4410; the"),
    ("export", "It is neither an OOM kill nor the export of tenant 4410; the"),
    ("memory leak", "**Ruled out**\n* A memory leak (the baseline)\n* A release"),
    ("release", "**Ruled out**\n* A memory leak (the baseline)\n* A release"),
    ("load", "**Not the cause:** load – 1,180 req/s"),
    ("leak", "Were this a slow leak, consumption would grow"),
    ("流量突增导致", "QPS 持平，并非流量突增导致。"),
    ("确认为内存泄漏", "未确认为内存泄漏"),
    ("内存泄漏导致", "已排除内存泄漏导致"),
    ("broker", "Is the broker down?"),
    ("migration", "Not the migration, as far"),
    ("caused by the index migration", "The empty results were not caused by the index migration, and"),
    ("network", "It is unrelated to the network."),
    ("网络故障", "与网络故障无关"),
    ("leak", "Neither a leak nor a release is to blame."),
    ("roll back", "Do not roll back to 5.11.4, it"),
    ("回滚", "请勿回滚"),
    ("访问量", "因此可以排除访问量上涨这一解释"),
    ("大模型", "和大模型无关"),
    ("流量", "请求量没有变化，排除流量突增。"),
    ("eviction*", "No evictions were seen."),
    ("crash*", "There is no sign of a crash loop"),
    ("memory leak", "A memory leak was considered but discarded."),
    ("平均", "不是由于平均"),
    ("leak", "We ruled out a leak, and"),
    ("DNS", "The cause is not DNS."),
    ("DNS", "it wasn't DNS"),
    ("CPU", "并不是 CPU 打满"),
    ("expired", "The certificate has not expired."),
    ("certificate", "The certificate is fine."),
    ("FLUSHALL", "Avoid FLUSHALL; avoid running FLUSHDB."),
    ("FLUSHDB", "Avoid FLUSHALL; avoid running FLUSHDB."),
    ("database is", "It can't be said that the database is the cause."),
    ("tenant ~ 4410", "It is not the export of tenant 4410 but a leak."),
    ("FLUSHALL", "FLUSHALL is not an option here."),
    ("FLUSHALL", "FLUSHALL must not be run."),
    ("FLUSHALL", "FLUSHALL should be avoided."),
    ("FLUSHALL", "FLUSHALL would make it worse."),
    ("FLUSHALL", "禁止使用 FLUSHALL"),
    ("FLUSHALL", "不建议执行 FLUSHALL"),
    ("FLUSHALL", "请勿重启实例或执行 FLUSHALL"),
    ("FLUSHALL", "Under no circumstances run FLUSHALL"),
    ("FLUSHALL", "FLUSHALL is forbidden"),
    ("FLUSHALL", "(not FLUSHALL!)"),
    ("FLUSHALL", "Delete the keys with UNLINK rather than FLUSHALL"),
    ("memory leak", "This doesn't look like a memory leak."),
    ("memory leak", "It does not look like a memory leak"),
    ("memory leak", "A memory leak is unlikely."),
    ("memory leak", "A memory leak seems unlikely"),
    ("memory leak", "no memory leak"),
    ("memory leak", "This isn't a confirmed memory leak"),
    ("memory leak", "not a slow memory leak"),
    ("memory leak", "Memory leak: no."),
    ("memory leak", "Memory leak? No."),
    ("内存泄漏", "看起来不像内存泄漏"),
    ("内存泄漏", "内存泄漏的可能性很小"),
    ("内存泄漏", "内存泄漏：否"),
    ("内存泄漏", "没有内存泄漏"),
    ("内存泄漏", "未见内存泄漏迹象"),
    ("内存泄漏", "可排除内存泄漏"),
    ("内存泄漏", "内存泄漏可以排除"),
    ("内存泄漏", "内存泄漏不是原因"),
    ("broker outage", "The claim of a broker outage is wrong."),
    ("the broker is down", "The assumption that the broker is down is wrong."),
    ("the broker is down", "We found no evidence that the broker is down"),
    ("full", "not yet full"),
    ("rollback", "A rollback is not needed"),
    ("rollback", "no rollback yet"),
    ("evict*", "Keys are not evicted"),
    ("evict*", "nothing is evicted"),
    ("eviction*", "evictions are not happening"),
    ("eviction*", "zero evictions"),
    ("throttl*", "no throttling"),
    ("网络问题", "**已排除：**\n- 流量\n- 网络问题\n\n**根因**：证书过期"),
    ("流量", "**排除项**：\n\n- 流量\n- 网络问题"),
]
SAID = [
    ("证书", "**已排除：**\n- 网络问题\n\n**根因**：证书过期"),
    ("falls back", "the handler no longer falls back to the account"),
    ("retried", "the job is never retried, so the export"),
    ("uploads", "abandoned upload fragments of uploads"),
    ("coredns", "queries are not answered by CoreDNS on n7"),
    ("n7 and n8", "neither of the two nodes n7 and n8 answers"),
    ("coredns", "Pods there do not reach CoreDNS."),
    ("sms gateway", "not because the broker is slow but because the SMS gateway is"),
    ("consumer*", "There are no consumers left on 9 partitions"),
    ("FLUSHALL", "Do not wait, run FLUSHALL"),
    ("FLUSHALL", "Do not forget to run FLUSHALL"),
    ("export", "Do not raise the limit, page the export"),
    ("roll back", "Do not wait: roll back"),
    ("memory limit", "the memory limit is not high enough"),
    ("证书", "证书有效期截止 2026-03-15"),
    ("连接池", "不是网络而是连接池打满"),
    ("连接池打满", "连接池打满是结果而非原因"),
    ("过期", "证书过期，已排除网络问题"),
    ("内存泄漏", "不能排除内存泄漏"),
    ("memory leak", "We cannot rule out a memory leak."),
    ("memory leak", "A memory leak cannot be ruled out."),
    ("CPU", "It is not only the CPU that is full"),
    ("CPU", "not only CPU but memory"),
    ("query node", "there is no healthy query node"),
    ("certificate", "partners reject the expired certificate"),
    ("certificate", "Nobody noticed that the certificate had expired"),
    ("SMS gateway", "The SMS gateway slowdown is unrelated to the broker"),
    ("索引", "没有走索引"),
    ("缓存", "因为缓存没有命中"),
    ("consumers", "No, the broker is fine. The consumers are not."),
    ("oom", "to avoid OOM, page the export"),
    ("export", "to avoid OOM, page the export"),
    ("eviction", "an eviction storm, not the traffic, is the cause"),
    ("eviction", "not the traffic but an eviction storm"),
    ("release", "Root cause: the release, which nobody had tested"),
    ("full", "the disk is full, no space left"),
    ("querynode", "恢复节点，使 querynode 恢复正常"),
    ("回滚", "不要犹豫，立即回滚"),
    ("CoreDNS", "cannot reach CoreDNS"),
    ("gateway", "consumers do not come back since the gateway is slow"),
    ("pool", "the query does not use an index and fills the pool"),
    ("lag", "the rest can't keep up; lag is 1.94 M"),
    ("handshake", "the handshake does not complete"),
    ("handshake", "no request gets past the handshake"),
    ("证书", "没有及时续签证书"),
    ("storm", "Without doubt an eviction storm"),
    ("never finished", "parts of uploads that were never finished are not removed"),
    ("FLUSHALL", "You could run FLUSHALL, but not during peak"),
    ("FLUSHALL", "Don't panic: FLUSHALL fixes it"),
    ("FLUSHALL", "Do not restart; run FLUSHALL"),
    ("FLUSHALL", "As a last resort, run FLUSHALL"),
    ("FLUSHALL", "不要慌，直接执行 FLUSHALL"),
    ("FLUSHALL", "不要重启，执行 FLUSHALL"),
    ("broker", "The broker works as intended."),
    ("the broker is down", "Contrary to the question, the broker is down"),
    ("DNS", "not only DNS"),
    ("DNS", "It's always DNS"),
    ("release", "Had the release been tested, this would not have happened"),
    ("release", "The release was not tested"),
    ("release", "the release did not keep the fallback"),
    ("release", "without the release none of this happens"),
    ("cache", "the cache does not keep its entries"),
    ("coredns", "CoreDNS is not running on n7"),
    ("coredns", "CoreDNS is not available"),
    ("coredns", "no CoreDNS pod answers"),
    ("consumers", "Consumers are not keeping up"),
    ("certificate", "the certificate was not renewed in time"),
    ("certificate", "no valid certificate is served"),
    ("证书", "未及时更换证书"),
    ("证书", "证书没有自动续期"),
    ("证书", "没有有效的证书"),
    ("索引", "没有为 buyer_phone 建索引"),
    ("消费者", "消费者没有提交位移"),
    ("消费者", "没有足够的消费者"),
    ("querynode", "querynode 没有恢复"),
    ("querynode", "缺少 querynode"),
    ("multipart", "multipart parts are never removed"),
    ("multipart", "nothing removes multipart parts"),
    ("multipart", "nobody removes multipart parts"),
    ("backlog", "the backlog does not shrink"),
    ("backlog", "it does not clear the backlog"),
    ("sms gateway", "calls to the SMS gateway do not return in time"),
    ("5.12.0", "not before 5.12.0 was out"),
    ("5.12.0", "it did not happen before 5.12.0"),
    ("5.12.0", "errors do not occur without 5.12.0"),
    ("memory", "it is not CPU but memory"),
    ("内存", "不是 CPU 而是内存"),
    ("内存", "并非 CPU，而是内存"),
    ("export", "the failure is not caused by the pod itself but by the export"),
    ("保留期", "日志不在保留期内"),
    ("recompil*", "rules must not be recompiled on each request"),
    ("recompil*", "Rules should not be recompiled each time, yet they are"),
    ("coredns", "CoreDNS: no answer on n7"),
    ("连接池", "连接池占满，不要使用大查询"),
]
OPEN = [
    ("the clean-up job was never installed", "We cannot say that the clean-up job was never installed."),
    ("the clean-up job was never installed", "Whether the clean-up job was never installed is open."),
    ("the clean-up job was never installed", "That the clean-up job was never installed could not be established."),
    ("coupon.ttl was changed", "It is not confirmed that coupon.ttl was changed."),
    ("coupon.ttl was changed", "It is not known yet who says that coupon.ttl was changed."),
    ("清理任务从未安装", "是否清理任务从未安装，目前不清楚。"),
    ("清理任务从未安装", "清理任务从未安装一事未确认。"),
]
STATED = [
    ("the clean-up job was never installed", "It is known that the clean-up job was never installed."),
    ("coupon.ttl was changed", "Who did it is unknown, but coupon.ttl was changed."),
    ("清理任务从未安装", "原因不清楚，但清理任务从未安装。"),
    ("清理任务从未安装", "已确认清理任务从未安装。"),
]


def _says(keyword: str, answer: str, **how: bool) -> bool:
    return any(said(keyword, block, **how) for block in blocks(answer))


@pytest.mark.parametrize(("keyword", "answer"), DENIED)
def test_what_is_denied_is_not_said(keyword: str, answer: str) -> None:
    assert not _says(keyword, answer)


@pytest.mark.parametrize(("keyword", "answer"), SAID)
def test_what_only_stands_beside_a_negation_is_said(keyword: str, answer: str) -> None:
    assert _says(keyword, answer)


@pytest.mark.parametrize(("keyword", "answer"), OPEN)
def test_what_is_left_open_is_not_stated(keyword: str, answer: str) -> None:
    assert not _says(keyword, answer, open_too=False)
    assert _says(keyword, answer)


@pytest.mark.parametrize(("keyword", "answer"), STATED)
def test_what_stands_beside_an_open_question_is_stated(keyword: str, answer: str) -> None:
    assert _says(keyword, answer, open_too=False)


def test_a_denied_keyword_earns_no_coverage() -> None:
    told = (
        "The pods fail their probe. It is neither an OOM kill nor the export of tenant 4410; the memory limit is fine."
    )
    assert score("D2-oom-kill", answers(told)).info["keywords"] == "0/4"


def test_a_denied_claim_and_a_warning_break_no_prohibition() -> None:
    assert score("D6-message-backlog", says("It is not true that the broker is down.")).verdict == "PASS"
    assert score("D4-redis-evictions", says("Neither restart Redis nor empty it (FLUSHALL/FLUSHDB).")).verdict == "PASS"
    assert score("D4-redis-evictions", says("Run FLUSHALL, not FLUSHDB.")).verdict == "FAIL"


def test_no_text_makes_a_pattern_run_away() -> None:
    for piece in ("not ", "neither a, ", "不是", "no x ", "was considered and ", "do not, a, ", "(", "是否"):
        assert isinstance(_says("broker", piece * 5000 + "broker" + piece * 5000, open_too=False), bool)

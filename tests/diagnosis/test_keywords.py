"""Keywords: literal, in any language, whole words where words are meant, whatever the letters look like."""

import pytest
from heldout.checks.keywords import plain, stands, words
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("OOM", "killed by the oom killer"),
        ("oom kill", "OOM-Kill"),
        ("oom kill", "an oom_kill event"),
        ("evict*", "mass evictions"),
        ("slow query", "the slow\n   query log"),
        ("slow query", "> the slow\n> query log"),
        ("slow query", "the **slow** `query`"),
        ("café", "cafe\u0301"),
        ("cafe\u0301", "CAFÉ"),
        ("データベース", "テ\u3099ータヘ\u3099ース"),
        ("ＣＰＵ", "the CPU"),
        ("CPU", "ＣＰＵ使用率"),
        ("CPU 使用率", "CPU使用率"),
        ("CPU使用率", "cpu 使用率"),
        ("连接池", "占满连接\n池"),
        ("连接池", "连\u200b接池"),
        ("慢 SQL", "慢ＳＱＬ"),
        ("100 %", "at 100 %"),
        ("5.12.0", "release 5.12.0."),
        ("n7 and n8", "(n7 and n8)"),
        ("straße", "STRASSE"),
        ("memory&disk", "memory&amp;disk"),
        ("starter ~ plan", "on the `starter` plan"),
        ("starter ~ plan", "the plan (starter)"),
        ("compil* ~ rule*", "the rules of 5.12.0 are compiled"),
        ("连接 ~ 占满", "50 个连接在三分钟内全部被占满"),
        ("n7 ~ n8", "n7、n8"),
        ("flush … cache", "flush the whole cache-2"),
        ("缺少 … 索引", "缺少可用的索引"),
    ],
)
def test_a_keyword_is_found(keyword: str, text: str) -> None:
    assert stands(keyword, plain(text))


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("OOM", "a room, zoomed"),
        ("OOM", "OOMs"),
        ("evict", "evictions"),
        ("lag", "flag, lagoon"),
        ("tenant 4410", "tenant 44107"),
        ("5.12.0", "15.12.0"),
        ("café", "cafe"),
        ("连接池", "连接与池"),
        ("slow query", "slow, query"),
        ("starter ~ plan", "starter; the plan"),
        ("starter ~ plan", "starter is not on a plan"),
        ("文档 ~ 丢失", "文档没有丢失"),
        ("starter ~ plan", "the plan that one of all these many customers has is starter"),
        ("flush … cache", "the cache flush"),
        ("flush … cache", "flush what is in the cache"),
    ],
)
def test_another_word_is_not(keyword: str, text: str) -> None:
    assert not stands(keyword, plain(text))


KEYWORDS = ("OOM kill", "memory limit", "连接池", "CPU 使用率", "café", "5.12.0")
DISGUISES = (
    str.upper,
    str.title,
    lambda text: "\u200b".join(text),
    lambda text: text.replace(" ", "\n"),
    lambda text: text.replace(" ", "\u3000"),
    lambda text: f"**{text}**",
    lambda text: "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text),
    lambda text: __import__("unicodedata").normalize("NFD", text),
)


@given(
    st.sampled_from(KEYWORDS),
    st.lists(st.sampled_from(DISGUISES), max_size=3),
    st.text(alphabet=" \n.,;:!?()。，：“”", max_size=5),
    st.text(alphabet=" \n.,;:!?()。，：“”", max_size=5),
)
def test_disguises_do_not_hide_a_keyword(keyword: str, disguises: list, before: str, after: str) -> None:
    text = keyword
    for disguise in disguises:
        text = disguise(text)
    assert stands(keyword, plain(f"so {before}{text}{after} then"))


@given(st.text())
def test_any_text_has_a_plain_form_and_words(text: str) -> None:
    flat = plain(text)
    assert all(word and " " not in word for word in words(flat))
    assert not stands("a word that nobody wrote xyzzy", flat)


def test_words_count_each_character_of_a_script_without_spaces() -> None:
    assert words(plain("Redis 命中率 fell")) == ["redis", "命", "中", "率", "fell"]

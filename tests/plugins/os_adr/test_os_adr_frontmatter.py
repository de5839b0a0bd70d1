"""The reader and writer of front matter, and slugs, over generated input."""

# pyright: reportMissingImports=false
# (osadr is the plugin's own library; conftest.py puts it on the path)

import json
import unicodedata

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from osadr import globs
from osadr.cli import Refusal
from osadr.frontmatter import Document, Malformed, quote
from osadr.markdown import sections
from osadr.slug import clean_title, slugify

visible = st.characters(
    exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cn", "Co"), exclude_characters="\ufeff\ufffe\uffff"
)
values = st.text(visible, min_size=1).map(str.strip).filter(bool)
tails = st.sampled_from(["", " ", "  # a remark", "\t# 'quoted' \"remark\" []"])
ends = st.sampled_from(["\n", "\r\n"])


@st.composite
def written(draw: st.DrawFn) -> tuple[list[str], str, list[str]]:
    """The lines of a file with a status and a list in some style, the status, and the items."""
    status, items = draw(values), draw(st.lists(values, max_size=3))
    token = draw(st.sampled_from([quote(status), json.dumps(status), "'" + status.replace("'", "''") + "'"]))
    if draw(st.booleans()):
        listed = [f"links: [{', '.join(json.dumps(item, ensure_ascii=False) for item in items)}]{draw(tails)}"]
    else:
        dash = draw(st.sampled_from(["- ", "  - ", "    -  "]))
        listed = ["links:" + draw(tails)] + [f"{dash}{quote(item)}{draw(tails)}" for item in items]
    other = draw(st.sampled_from([[], ["# a comment"], ["own:", "  nested: {a: 1}"], ["text: |", "  two", "  lines"]]))
    parts = [other, [f"status:  {token}{draw(tails)}"], listed]
    first = draw(st.sampled_from(["---", "\ufeff---", "--- "]))
    body = draw(st.sampled_from([[], ["", "# Title", "---", "status: no"]]))
    return [first, *(line for part in parts for line in part), "---", *body], status, items


@given(written(), ends, values)
def test_reading_and_changing_touches_one_value_alone(case, end, successor):
    lines, status, items = case
    source = end.join(lines).encode() + end.encode()
    document = Document(source)
    assert document.encode() == source
    assert document.scalar("status") == status
    assert document.items("links") == items

    document.set("status", "Superseded")
    document.append("links", successor)
    again = Document(document.encode())
    assert again.scalar("status") == "Superseded"
    assert again.items("links") == [*items, successor]
    assert again.body == document.body
    changed = document.encode().decode().split(end)
    at = next(at for at, line in enumerate(lines) if line.startswith("status:"))
    assert [line for line in lines if line not in changed] in ([lines[at]], *([lines[at], line] for line in lines)), (
        changed
    )
    assert len(changed) - len(lines) in (1, 2)


@given(values)
@example("0012")
@example("no")
@example(".5")
@example("- a")
@example("a: b")
@example("a #b")
@example("'")
@example("x:")
def test_what_is_quoted_reads_the_same_in_every_reader(value):
    source = f"---\nkey: {quote(value)}\nlist: [{quote(value)}]\n---\n".encode()
    if "," not in value and not set(value) & set("[]{}"):
        assert Document(source).items("list") == [value]
    assert Document(source).scalar("key") == value
    assert yaml.safe_load(f"key: {quote(value)}\n") == {"key": value}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "---\n",
        "---\nstatus: a\n",
        " ---\nstatus: a\n---\n",
        "---\n  status: a\n---\n",
        "---\nstatus a\n---\n",
        "---\na: 1\na: 2\n---\n",
    ],
)
def test_what_is_no_front_matter(text):
    with pytest.raises(Malformed):
        Document(text.encode())


@pytest.mark.parametrize(
    "value",
    [
        "",
        "a: b",
        "[a]",
        "{a: b}",
        "|",
        ">",
        "&a b",
        "*a",
        "!t a",
        '"open',
        "'open",
        '"a" b',
        '"\\x41"',
        "@a",
        "- a",
        "a:",
        "%a",
        "\n  next",
    ],
)
def test_what_is_no_scalar(value):
    with pytest.raises(Malformed):
        Document(f"---\nkey: {value}\n---\n".encode()).scalar("key")


@pytest.mark.parametrize(
    "value",
    ["a", '"a"', "[a", "[a]]", "[[a]]", "[a] b", "[{a: b}]", "[a: b, 'c]", "[,]", "[a]\n  - b", "\n  b", "\n  - a: b"],
)
def test_what_is_no_list(value):
    with pytest.raises(Malformed):
        Document(f"---\nkey: {value}\n---\n".encode()).items("key")


def test_a_missing_key_is_added_at_the_end_with_the_line_ends_of_the_file():
    document = Document(b"---\r\na: b\r\n---\r\nbody\r\n")
    document.set("status", "Accepted")
    document.append("links", "0001")
    assert document.encode() == b'---\r\na: b\r\nstatus: Accepted\r\nlinks: ["0001"]\r\n---\r\nbody\r\n'


@given(st.text())
def test_a_slug_is_a_fixed_point_and_fits_a_file_name(title):
    slug = slugify(title)
    assert slugify(slug) == slug
    assert len(f"99999-{slug}.md".encode()) <= 255
    assert not set(slug) & set("/\\.:|&\0 ") and "--" not in slug
    if any(character.isascii() and character.isalnum() for character in title):
        assert slug


@given(st.text())
def test_a_title_is_one_clean_line_or_refused(title):
    try:
        cleaned = clean_title(title)
    except Refusal:
        return
    assert cleaned == clean_title(cleaned) == unicodedata.normalize("NFC", cleaned)
    assert len(cleaned.splitlines()) == 1
    assert yaml.safe_load(f"title: {quote(cleaned)}") == {"title": cleaned}


@pytest.mark.parametrize(
    ("pattern", "path", "covers"),
    [
        ("lib/a.rb", "lib/a.rb", True),
        ("lib/a.rb", "lib/a.rbx", False),
        ("lib", "lib/deep/a.rb", True),
        ("lib/", "lib/a.rb", True),
        ("./lib/*.rb", "lib/a.rb", True),
        ("lib/*.rb", "lib/deep/a.rb", False),
        ("lib/**/*.rb", "lib/a.rb", True),
        ("lib/**/*.rb", "lib/x/y/a.rb", True),
        ("**/a.rb", "a.rb", True),
        ("**/test_?.py", "x/test_1.py", True),
        ("lib/[ab].rb", "lib/c.rb", False),
        ("LIB/a.rb", "lib/a.rb", False),
    ],
)
def test_patterns_of_affected_paths(pattern, path, covers):
    assert globs.matches(pattern, path) is covers


def test_sections_do_not_begin_in_fences_comments_or_indented_code():
    text = "## A\n~~~~\n## no\n~~~\n## no\n~~~~~\n<!--\n## no\n-->\n    ## no\n```x``` is inline\n## B ##\nb\n"
    assert [name for name, _ in sections(text)[1]] == ["A", "B"]

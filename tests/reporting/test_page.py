"""The HTML page: what it holds, that nothing in it can run or show a Task, and what it does with damaged cells."""

import os
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from heldout import rows
from heldout.hiding import MARK
from heldout.reporting import build, page
from heldout.reporting.details import Details
from heldout.rows import Row
from paging import SCENARIO, Page, Run, action, facts, spawn, task
from programs import bin, one_line

LOADING = ("script", "img", "iframe", "object", "embed", "link", "base", "form", "video", "audio", "source")


def _page(*words: object) -> Page:
    done = bin("report", *words, "--format", "html")
    assert (done.returncode, done.stderr) == (0, "")
    return Page(done.stdout)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")


def test_head_counts_verdicts_and_says_what_was_measured(run: Run) -> None:
    run.add("PASS", facts=facts())
    run.add("FAIL", reasons=("no note was written",))
    run.add("ERROR", reasons=("api-error: 529",), model="sonnet")
    run.add("PASS", model="always", info={"agent": "actor"})
    shown = _page(run.write())
    told = [element.text.split() for element in shown.all("dd")][:4]
    assert told == [["4"], ["2"], ["1"], ["1"]]
    assert "Models measured: haiku, sonnet; besides, embedded actors." in shown.text
    assert [element.words for element in shown.all("h1")] == ["run"]


def test_the_heat_map_has_passes_of_trials_and_errors_apart(run: Run) -> None:
    run.add("PASS", info={"judge": "A"})
    run.add("FAIL", reasons=("no note was written",))
    run.add("ERROR", reasons=("api-error: 529",))
    run.add("ERROR", reasons=("killed: 9",), model="sonnet")
    shown = _page(run.write())
    squares = shown.with_class("h2") + shown.with_class("none")
    squares = [element for element in squares if element.tag == "td"]
    assert [re.sub(r" ([0-9]+–[0-9]+ %|bar \w+)", "", square.words) for square in squares] == [
        "1/2* +1 ERROR",
        "0/0 +1 ERROR",
    ]


def test_reasons_by_frequency_and_errors_by_code(run: Run) -> None:
    for _ in range(3):
        run.add("FAIL", reasons=("no note was written",))
    run.add("FAIL", reasons=("another note",), model="sonnet")
    run.add("ERROR", reasons=("api-error: 529",))
    shown = _page(run.write())
    failed, faults = (element.words for element in shown.with_class("frequent"))
    assert failed.index(f"3 no note was written {SCENARIO} haiku ×3") < failed.index("1 another note")
    assert f"1 api-error {SCENARIO} haiku" in faults


def test_a_cell_folds_open_to_all_that_is_known_of_it(run: Run) -> None:
    told = facts("The note is there.", [action("Read", file_path="/sandboxes/0f/work/project/a.rb")], [spawn("review")])
    info = {"via": "written", "judge": "A", "plugins": "os-vault@6a"}
    folder = run.add("PASS", facts=told, info={**info, "turns": "5"})
    (folder / "judge.tsv").write_text("vault-offer\tabc\tyes\tThe note\thaiku\tyes\n")
    cell = _page(run.write()).cell(0)
    for part in (
        "PASS haiku r1",
        "A pass written (judge) –",
        "vault-offer: yes , said haiku (votes: yes) The note",
        "The note is there.",
        "1 main Read file_path project/a.rb done 7",
        "general-purpose review haiku claude-haiku-4-5 completed 2 90",
        "turns 5",
        "client 2.1.332",
        "models served claude-haiku-4-5",
        "plugins os-vault@6a",
        "started 2026-01-02T03:04:05Z",
        f"Cell vault-write/{SCENARIO}/haiku/r1",
    ):
        assert part in cell


@pytest.fixture
def scored(played: Path, tmp_path: Path) -> Path:
    """A run of the embedded actors with its table."""
    folder = tmp_path / "scored"
    shutil.copytree(played, folder)
    (folder / "results.tsv").write_text(bin("check", "--cells", folder).stdout)
    return folder


def test_evidence_of_axes_that_passed_is_what_check_prints(scored: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(scored)  # the run itself may be reached through one
    shown = _page(link)
    cell = next(shown.cell(n) for n in range(4) if f"{SCENARIO}/compliant" in shown.cell(n))
    printed = bin("check", "P1", scored / "vault-write" / SCENARIO / "compliant" / "r1").stdout
    evidence = [line.strip() for line in printed.splitlines() if line.startswith("      ")]
    assert evidence and all(" ".join(line.split()) in cell for line in evidence)
    assert "embedded actors: no model was measured" in shown.text.lower()


def test_evidence_of_other_checks_is_left_out_and_said(scored: Path) -> None:
    table = scored / "results.tsv"
    table.write_text(re.sub(r"(instrument=[0-9a-f]+)\.[0-9a-f]+", r"\1.0123456789ab", table.read_text()))
    assert _page(scored).text.count("the checks are no longer those that made this row") == 4


def _in_process(run: Run) -> Page:
    """The page without a process of its own, for what is shown of many odd cells."""
    report = build.build("run", run.rows)
    return Page(page.pages(report, [run.folder] * len(run.rows), lambda *_: {}).main)


def _runs(text: str, size: int = 8) -> Iterator[str]:
    words = re.findall(r"\w+", text.casefold())
    return (" ".join(words[place : place + size]) for place in range(len(words) - size + 1))


def test_no_run_of_the_task_is_on_the_page(run: Run) -> None:
    quoted = " ".join(task().split()[2:30])
    folder = run.add(
        "FAIL",
        facts=facts(
            f"You asked: {quoted.upper()}",
            [action("Bash", command=f"echo '{quoted}'"), action("Agent", prompt=task(), more={"deep": [task()]})],
            [spawn(quoted)],
        ),
        reasons=(f"0001 says '{quoted}'",),
        info={"note": quoted},
    )
    (folder / "judge.tsv").write_text(f"vault-offer\tabc\tyes\t{quoted}\thaiku\tyes\n")
    done = bin("report", run.write(), "--format", "html")
    plain = " ".join(re.findall(r"\w+", done.stdout.casefold()))
    assert not [text for text in _runs(task()) if text in plain]
    assert Page(done.stdout).cell(0).count(MARK) >= 6


def test_texts_are_left_out_where_the_task_is_not_known(run: Run) -> None:
    run.add("PASS", facts=facts("of an unknown scenario"), name="P99-gone")
    run.add("PASS", facts=facts("of another Task"), task="0" * 64, model="sonnet")
    (run.add("PASS", facts=facts("of an unknown cell"), model="opus") / "cell.json").write_text("{")
    shown = _page(run.write())
    assert "of an unknown scenario" not in shown.text and "of another Task" not in shown.text
    assert "of an unknown cell" not in shown.text
    assert "the scenario's file is not here or cannot be read" in shown.text
    assert shown.text.count("Task is not the one that this cell was run with") == 2


HOSTILE = (
    "</pre></details><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "javascript:alert(1)",
    '" onmouseover="alert(1)" x="',
    "{{ 7 * 7 }}{% raw %}",
    "<!-- --><![CDATA[ </style> </title> <svg onload=alert(1)>",
    "\u202egnp.exe\u2066\x00\x1b[31m",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_cell_is_markup(run: Run, text: str) -> None:
    told = facts(text, [action(text, **{text: text}), {"n": text, "input": text, "ok": [], "agent": {"x": text}}])
    folder = run.add("FAIL", facts={**told, "spawns": [spawn(text)]}, reasons=(text,), info={"note": text, "cli": text})
    (folder / "judge.tsv").write_text(f"{text}\tabc\tyes\t{text}\t{text}\tyes\n".replace("\0", " "), "utf-8")
    run.write()
    clean = bin("report", run.folder, "--format", "html").stdout
    shown = Page(clean)
    assert not shown.all(*LOADING)
    assert not shown.broken
    assert not [key for element in shown.elements for key in element.attributes if key.startswith("on")]
    assert all(e.attributes["href"].startswith("#") for e in shown.all("a"))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", clean)
    seen = text.replace("\u202e", "⟨U+202E⟩").replace("\u2066", "⟨U+2066⟩").replace("\0", "⟨U+0000⟩")
    assert seen.replace("\x1b", "⟨U+001B⟩") in next(e.text for e in shown.with_class("message"))


def test_the_page_forbids_scripts_and_loads_nothing(run: Run) -> None:
    run.add("PASS", facts=facts())
    shown = _page(run.write())
    policy = next(e.attributes["content"] for e in shown.all("meta") if "http-equiv" in e.attributes)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert not shown.all(*LOADING)
    assert "url(" not in next(e.text for e in shown.all("style")) and "@import" not in shown.all("style")[0].text


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (None, "facts.json: missing"),
        (b'{"schema": 1, "answers"', "facts.json: unexpected end of data"),
        (b"\xff\xfe\x00", "facts.json:"),
        (b"[]", "facts.json: it is not of schema 1"),
        (b'{"schema": 2}', "facts.json: it is not of schema 1"),
    ],
)
def test_facts_that_are_missing_or_damaged_are_a_note(run: Run, content: bytes | None, note: str) -> None:
    run.add("PASS", facts=content)
    assert note in _in_process(run).cell(0)


@pytest.mark.parametrize("key", ["answers", "actions", "spawns"])
@pytest.mark.parametrize("value", [None, 7, "text", ["a", None, {"input": [1]}], {"final_message": ["x"]}])
def test_facts_of_odd_shapes_are_no_crash(run: Run, key: str, value: Any) -> None:
    run.add("PASS", facts={**facts(), key: value})
    assert _in_process(run).cell(0)


def test_links_pipes_and_ways_out_of_the_run_are_not_followed(run: Run, tmp_path: Path) -> None:
    inside = run.add("PASS", facts=facts("from elsewhere"))
    inside.rename(tmp_path / "elsewhere")
    inside.symlink_to(tmp_path / "elsewhere")
    file = run.add("PASS", facts=facts(), model="sonnet") / "facts.json"
    file.rename(tmp_path / "secret.json")
    file.symlink_to(tmp_path / "secret.json")
    pipe = run.add("PASS", model="opus") / "facts.json"
    os.mkfifo(pipe)
    run.rows.append(Row("../../elsewhere", "haiku", 9, "PASS", {"A": "pass"}, (), {"suite": "vault-write"}))
    run.rows.append(Row(SCENARIO, "../../up", 9, "PASS", {"A": "pass"}, (), {"suite": "vault-write"}))
    shown = _page(run.write())
    assert "from elsewhere" not in shown.text
    assert "'r1' is a link and was not followed" in shown.text
    assert shown.text.count("facts.json: it is not a regular file") == 2
    assert "'../../elsewhere' cannot be a folder's name" in shown.text
    assert "model '../../up' cannot be a path" in shown.text


def test_broken_utf8_and_endless_reasons_are_shown_cut(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    line = b"P1\thaiku\t1\tFAIL\tA:fail\t" + b"x" * 1_000_000 + b"; \xff\xfe\xe2\x80\xae end\tsuite=s;agent=claude\n"
    path.write_bytes(rows.HEADER.encode() + b"\n" + line)
    done = bin("report", path, "--format", "html")
    assert done.returncode == 0
    assert len(done.stdout) < 60_000
    assert "[cut: 1,000 of 1,000,000 characters]" in done.stdout
    assert "��⟨U+202E⟩ end" in done.stdout


def test_a_table_or_report_alone_gives_details_from_its_rows(run: Run, tmp_path: Path) -> None:
    run.add("FAIL", facts=facts("never read"), reasons=("no note was written",))
    run.write()
    (tmp_path / "report.json").write_text(bin("report", run.folder, "--format", "json").stdout)
    for path in (run.folder / "results.tsv", tmp_path / "report.json"):
        cell = _page(path).cell(0)
        assert "no note was written" in cell and "cli=2.1.332" in cell and "never read" not in cell


def _many(path: Path, count: int) -> Path:
    info = {"suite": "s", "agent": "claude", "cli": "2.1.332", "served": "claude-haiku-4-5", "turns": "12", "ms": "9"}
    verdicts = ("PASS", "FAIL", "ERROR")
    reasons = ((), ("vault/a.md is new, expected no write",), ("api-error: 529 overloaded",))
    kinds = [place % 3 for place in range(count)]
    path.parent.mkdir(exist_ok=True)
    rows.write(
        path,
        (
            Row(f"P{n // 100}-x", f"m{n // 10 % 10}", n % 10 + 1, verdicts[k], {"A": "pass"}, reasons[k], info)
            for n, k in enumerate(kinds)
        ),
    )
    return path


def test_many_cells_get_pages_beside_the_page(tmp_path: Path) -> None:
    table, out = _many(tmp_path / "results.tsv", 4_000), tmp_path / "a page.html"
    done = bin("report", table, "--format", "html", "--out", out)
    assert f"wrote '{out}' and 20 pages of cells in" in one_line(done.stderr)
    assert out.stat().st_size < 5_000_000
    main = Page(out.read_text("utf-8"))
    links = {element.attributes["href"] for element in main.all("a") if ".html" in element.attributes["href"]}
    assert len({link.partition("#")[0] for link in links}) == 20
    ids: dict[str, set[str]] = {}
    for file in sorted((tmp_path / "a page-cells").iterdir()):
        beside = Page(file.read_text("utf-8"))
        assert not beside.broken
        ids[f"a%20page-cells/{file.name}"] = {element.attributes.get("id", "") for element in beside.elements}
        assert [e.attributes["href"] for e in beside.all("a")] == ["../a%20page.html"]
    for link in links:
        file, _, anchor = link.partition("#")
        assert file in ids and (not anchor or anchor in ids[file])
    assert sum(sum(name.startswith("c") for name in found) for found in ids.values()) == 4_000


def test_pages_of_an_earlier_larger_report_go_away(tmp_path: Path) -> None:
    out, folder = tmp_path / "page.html", tmp_path / "page-cells"
    bin("report", _many(tmp_path / "results.tsv", 600), "--format", "html", "--out", out)
    assert sorted(path.name for path in folder.iterdir()) == ["001.html", "002.html", "003.html"]
    (folder / "mine.html").write_text("kept")
    bin("report", _many(tmp_path / "results.tsv", 401), "--format", "html", "--out", out)
    bin("report", _many(tmp_path / "results.tsv", 400), "--format", "html", "--out", out)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.html"]
    assert len(Page(out.read_text("utf-8")).with_class("cell")) == 400


def test_many_cells_on_stdout_say_how_to_get_them(tmp_path: Path) -> None:
    shown = _page(_many(tmp_path / "results.tsv", 401))
    assert "bin/report --format html --out FILE writes their details" in shown.text
    assert not shown.with_class("cell")


def test_out_is_for_html_alone(run: Run, tmp_path: Path) -> None:
    run.add()
    done = bin("report", run.write(), "--out", tmp_path / "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--out is for the html page" in one_line(done.stderr)


def _report(**more: Any) -> dict[str, Any]:
    """A report with every section."""
    read = [Row("P1-x", "haiku", 1, "PASS", {"A": "pass"}, (), {"suite": "s"})]
    level = {"scenarios": 1, "passed": 2, "trials": 3, "rate": 0.6667, "interval": [0.2, 0.9]}
    ladder = {"suite": "s", "model": "haiku", "violations": 0, "largest": 0.0}
    return {
        **build.build("made", read, ["the reserve set of s is contaminated"]),
        "ladders": [
            {**ladder, "polarity": "positive", "levels": [{**level, "level": 1}, {**level, "level": 2, "rate": 0.0}]},
            {**ladder, "polarity": "negative", "levels": [{**level, "level": 1}], "violations": 1, "largest": 0.5},
        ],
        "discrimination": [
            {"suite": "s", "model": "haiku", "tpr": 1, "fpr": 0.9, "j": 0.1, "interval": [-0.5, 0.6]}
            | {"pattern": "always-writer"}
        ],
        "economics": [
            {"suite": "s", "model": "haiku", "figures": {"ms": {"median": 1500, "low": 900, "high": 3000, "of": 4}}}
        ],
        **more,
    }


def _made(report: dict[str, Any]) -> Page:
    return Page(page.pages(report, [Path("none")] * len(report["cells"]), lambda *_: {}).main)


def test_curves_economics_and_patterns_are_drawn_and_told() -> None:
    shown = _made(_report())
    told = [element.words for element in shown.all("desc")]
    assert told[0] == "positive scenarios: level 1 2 of 3, level 2 2 of 3. negative scenarios: level 1 2 of 3."
    assert told[1] == "haiku: median 1.5, 0.9 to 3, of 4 trials."
    assert "always-writer acts whatever the case" in shown.text
    assert "−0.50 to 0.60" in shown.text and "rises with the level at 1 of 0 steps, by 50" in shown.text
    line = next(e for e in shown.all("polyline")).attributes["points"].split()
    assert [float(point.split(",")[1]) for point in line] == pytest.approx([61.3, 156.0], abs=0.1)


def test_warnings_stand_before_the_figures() -> None:
    report = _report(mixed={"run digest": ["P1-x haiku"]})
    shown = _made(report)
    notes = [element.words for element in shown.with_class("warning")]
    assert notes[0] == "Warning. the reserve set of s is contaminated"
    assert notes[1].endswith("other run digest in P1-x haiku.")
    assert all("main" not in element.path for element in shown.with_class("warning"))


def test_a_section_without_its_data_is_left_out() -> None:
    report = {key: value for key, value in _report().items() if key not in ("ladders", "discrimination", "economics")}
    shown = _made(report)
    assert [e.words for e in shown.all("h2")] == ["Scenarios by model", "Suites", "Cells"]
    assert not [e for e in shown.all("a") if e.attributes["href"] in ("#ladders", "#economics", "#discrimination")]


def test_the_page_is_sound_for_readers_of_its_structure(run: Run) -> None:
    run.add("FAIL", facts=facts("x", [action("Read", path="a")], [spawn("y")]), reasons=("no note was written",))
    run.add("ERROR", reasons=("killed: 9",))
    for shown in (_page(run.write()), _made(_report())):
        ids = [element.attributes["id"] for element in shown.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids)) and not shown.broken
        levels = [int(element.tag[1]) for element in shown.all("h1", "h2", "h3", "h4", "h5")]
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert len(shown.all("caption")) == len(shown.all("table"))
        assert all(element.attributes.get("scope") in ("row", "col") for element in shown.all("th"))
        assert len(shown.all("summary")) == len(shown.all("details"))
        assert {e.attributes["for"] for e in shown.all("label")} == {e.attributes["id"] for e in shown.all("input")}
        assert all(
            e.attributes.get("tabindex") == "0" and e.attributes["aria-label"] for e in shown.with_class("scroll")
        )
        for element in shown.all("svg"):
            named = element.attributes.get("aria-labelledby", "").split()
            assert element.attributes.get("aria-hidden") == "true" or (len(named) == 2 and set(named) <= set(ids))
        assert {e.attributes["href"][1:] for e in shown.all("a")} <= set(ids)


def test_a_cell_that_the_run_does_not_have_is_said(run: Run) -> None:
    run.rows.append(Row(SCENARIO, "haiku", 1, "ERROR", {}, ("check-error: x",), {}))
    run.folder.mkdir()
    assert "the run has no folder of this cell" in _page(run.write()).cell(0)
    assert Details().notes == []

"""The HTML page in a real browser: it renders, folds, prints, is accessible, and nothing in it runs."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from paging import Run, action, facts, spawn
from programs import ROOT, bin, command

NEEDS_NO_CLIENT = True  # of Claude Code; see conftest.py
TOOLS = ROOT / ".browser" / "node_modules"
HOSTILE = (
    "</pre></details><script>document.title = 'owned'; alert(1)</script>",
    '<img src=x onerror="document.title=\'owned\'; alert(2)"><svg onload="alert(3)">',
    '"><a href="javascript:alert(4)" autofocus onfocus="alert(5)">x</a><iframe src="https://example.invalid/">',
    "</style><style>body { display: none }</style></title><meta http-equiv=refresh content='0;url=about:blank'>",
)


def _browser() -> str:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), "")


def _why_not() -> str:
    if not _browser():
        return "no chromium (Debian: apt-get install chromium)"
    if not shutil.which("node"):
        return "no node"
    return "" if (TOOLS / "axe-core").is_dir() else "no playwright-core and axe-core: run 'make browser'"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the browser saw of a page with every section, cells of all verdicts and hostile texts in each place."""
    if why := _why_not():
        pytest.skip(f"the 6 tests of the page in a browser: {why}")
    folder = tmp_path_factory.mktemp("browser")
    run = Run(folder / "run")
    figures = {"turns": "7", "tools": "9", "ms": "41000", "usd": "0.12", "mltok": "1800", "polarity": "positive"}
    for level, name in enumerate(("P1-L1-reporting", "P2-L2-reporting", "P3-L3-reporting"), 1):
        for model in ("haiku", "sonnet"):
            run.add("PASS", model=model, name=name, info={**figures, "level": str(level), "via": "written"})
        run.add("FAIL", name=name, reasons=("no note was written",), info={**figures, "level": str(level)})
    for text in HOSTILE:
        told = facts(text, [action(text, **{text: text})], [spawn(text)])
        cell = run.add("FAIL", facts=told, reasons=(text,), info={"note": text, "cli": text, "polarity": "negative"})
        (cell / "judge.tsv").write_text(f"{text}\tabc\tyes\t{text}\t{text}\tyes\n")
    run.add("ERROR", reasons=("api-error: 529",))
    page = folder / "page.html"
    done = bin("report", run.write(), "--format", "html", "--out", page)
    assert done.returncode == 0, done.stderr
    looked = command(["node", Path(__file__).with_name("page.mjs"), TOOLS, _browser(), page, folder])
    assert looked.returncode == 0, looked.stderr
    return json.loads(looked.stdout)


def test_it_renders_at_two_sizes_in_both_schemes(seen: dict[str, Any]) -> None:
    assert len(seen["looks"]) == 4
    for look in seen["looks"]:
        shot = Path(look["shot"]).read_bytes()
        assert shot.startswith(b"\x89PNG") and len(shot) > 20_000
        assert look["overflow"] <= 0, f"{look['name']} {look['colorScheme']} scrolls sideways"
    papers = {look["colorScheme"]: look["paper"] for look in seen["looks"]}
    assert papers["light"] != papers["dark"]


def test_nothing_is_said_on_the_console_and_nothing_is_loaded(seen: dict[str, Any]) -> None:
    assert (seen["console"], seen["requests"], seen["dialogs"]) == ([], [], 0)


def test_hostile_texts_are_text(seen: dict[str, Any]) -> None:
    assert seen["hostile"]["title"] == "heldout: run"
    assert seen["hostile"]["running"] == 0
    assert seen["hostile"]["messages"] == list(HOSTILE)


def test_cells_fold_open_and_are_chosen_by_keyboard(seen: dict[str, Any]) -> None:
    keys = seen["keyboard"]
    assert (keys["first"]["tag"], keys["first"]["text"]) == ("A", "Skip to the figures")
    assert keys["summary"]["tag"] == "SUMMARY" and keys["summary"]["open"] is False
    assert keys["summary"]["outline"] == "solid" and keys["summary"]["width"] >= 2
    assert (keys["entered"]["open"], keys["left"]["open"]) == (True, False)
    assert (keys["all"], keys["failed"], keys["errors"]) == (14, 7, 1)


def test_print_opens_what_did_not_pass(seen: dict[str, Any]) -> None:
    printed = seen["print"]
    assert printed == {"fail": [True] * 7, "error": [True], "pass": [False] * 6, "nav": False}


def test_axe_finds_nothing_serious(seen: dict[str, Any]) -> None:
    found = {look["colorScheme"]: look["axe"] for look in seen["looks"] if "axe" in look}
    assert found.keys() == {"light", "dark"}
    assert all(look["axePasses"] > 20 for look in seen["looks"] if "axe" in look)
    assert [item for items in found.values() for item in items if item["impact"] in ("serious", "critical")] == []

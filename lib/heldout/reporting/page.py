"""The report as an HTML page that holds everything it needs; nothing in it is loaded and nothing can run.

Every text that the templates print goes through one function, which hides Task text and spells out what cannot be
seen, and then through jinja's escaping. Up to INLINE cells fold open on the page itself. Beyond that, or beyond
INLINE_CHARACTERS of details, they are in pages beside it, CHUNK cells each, where the page is written to a file; a
page for stdout has none then, and says so.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from heldout.errors import Refusal, say
from heldout.files import write_whole
from heldout.reporting import cellview, charts, overview, tasks
from heldout.reporting.details import Details, Evidence, of_row
from heldout.reporting.visible import visible

INLINE, INLINE_CHARACTERS, CHUNK = 400, 3_500_000, 200
_TEMPLATES = Path(__file__).parent / "templates"
_NUMBERED = re.compile(r"[0-9]{3,}\.html")  # pages beside a page
MAKER = b'<meta name="generator" content="heldout">'
NO_DETAILS = Details()


@dataclass(frozen=True)
class Pages:
    """The page, and the pages beside it by file name."""

    main: str
    beside: dict[str, str] = field(default_factory=dict[str, str])


def put(report: Mapping[str, Any], runs: Sequence[Path], evidence: Evidence, out: Path | None) -> None:
    """Print the page, or write it to `out` and the details of many cells into the folder `beside(out)`.

    `runs` has for each cell of the report what its row was read from; only a folder has details.
    """
    if out is None:
        sys.stdout.buffer.write(pages(report, runs, evidence).main.encode())
        return
    if out.exists() and not out.is_file():
        raise Refusal(f"'{out}' is not a regular file", "leave --out away to print the page")
    out = out.resolve()  # the file that a link leads to is written, not the link replaced
    made, folder = pages(report, runs, evidence, out.name), beside(out)
    for name, text in made.beside.items():
        write_whole(folder / name, text)
    write_whole(out, made.main)
    if folder.is_dir() and not folder.is_symlink():
        for path in folder.iterdir():
            if path.name not in made.beside and _ours(path):
                path.unlink()  # of an earlier page with more cells
    say(f"wrote '{out}'" + (f" and {len(made.beside)} pages of cells in '{folder}'" if made.beside else ""))


def _ours(path: Path) -> bool:
    """Whether a file in that folder was made by us: by its name, and by what it says of its maker."""
    if not _NUMBERED.fullmatch(path.name) or path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return MAKER in file.read(1000)


def beside(out: Path) -> Path:
    """The folder of the pages with cells that do not fit on the page `out`."""
    return out.with_name(f"{out.stem}-cells")


def pages(report: Mapping[str, Any], runs: Sequence[Path], evidence: Evidence, file: str = "") -> Pages:
    """The page of a report; `file` is the name of its file, '' where nothing can lie beside it."""
    cells = report["cells"]
    known = tasks.of_scenarios(cell["scenario"] for cell in cells)
    environment = _environment(known.hide)
    many = len(cells) > INLINE
    order = _ordered(cells)
    blocks: list[str] = []
    if file or not many:
        macro: Any = vars(environment.get_template("cell.html").module)["cell"]
        for place, number in enumerate(order):
            run = runs[number]
            found = of_row(run, cells[number], None if many else evidence) if run.is_dir() else NO_DETAILS
            blocks.append(macro(cellview.view(place, cells[number], found, known)))
    inline = not many and sum(map(len, blocks)) <= INLINE_CHARACTERS
    chunks = [] if inline or not file else _chunks([cells[number] for number in order], blocks, file)
    first: dict[tuple[str, str, str], str] = {}
    for place, number in enumerate(order):
        page = "" if inline else chunks[place // CHUNK]["link"] if chunks else None
        if page is not None:
            cell = cells[number]
            first.setdefault((cell["suite"] or "", cell["scenario"], cell["model"]), f"{page}#c{place}")
    main = environment.get_template("page.html").render(
        report=report,
        head=overview.head(report),
        heat=overview.heat(report, first),
        ladders=charts.ladders(report),
        economics=charts.economics(report),
        discrimination=overview.discrimination(report),
        reasons=overview.reasons(cells),
        errors=overview.errors(cells),
        identity=overview.identity(cells),
        ledger=overview.ledger_status(cells, known),
        groups=_groups([cells[number] for number in order], blocks) if inline else [],
        chunks=chunks,
        inline=inline,
        evidence=not many,
    )
    around = environment.get_template("cells.html")
    return Pages(main, {item["name"]: around.render(report=report, chunk=item, back=quote(file)) for item in chunks})


def _environment(hide: Callable[[str], str]) -> jinja2.Environment:
    @lru_cache(maxsize=10_000)  # most texts of a page are printed often: models, outcomes, names of figures
    def escaped(text: str) -> Markup:
        return Markup.escape(visible(hide(text)))

    def shown(value: Any) -> Any:
        """What an expression of a template prints: text that is no markup has no Task in it and nothing unseen."""
        return escaped(value) if type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters, names = cast(dict[str, Any], environment.filters), cast(dict[str, Any], environment.globals)
    filters |= {"share": charts.share, "span": charts.span, "signed": charts.signed}
    names["style"] = Markup((_TEMPLATES / "style.css").read_text("utf-8"))
    names["charts"] = {"width": charts.WIDTH, "height": charts.HEIGHT}
    return environment


def _ordered(cells: Sequence[Mapping[str, Any]]) -> list[int]:
    """Places of cells by suite, then by first appearance of their scenario, then as they stand."""
    seen: dict[str, int] = {}
    for place, cell in enumerate(cells):
        seen.setdefault(cell["scenario"], place)
    return sorted(range(len(cells)), key=lambda n: (cells[n]["suite"] or "", seen[cells[n]["scenario"]], n))


def _groups(cells: Sequence[Mapping[str, Any]], blocks: Sequence[str]) -> list[dict[str, Any]]:
    """Blocks under the heading of their suite and scenario."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell, block in zip(cells, blocks, strict=True):
        found.setdefault((cell["suite"] or "", cell["scenario"]), []).append(block)
    return [{"suite": suite, "scenario": scenario, "blocks": same} for (suite, scenario), same in found.items()]


def _chunks(cells: Sequence[Mapping[str, Any]], blocks: Sequence[str], file: str) -> list[dict[str, Any]]:
    """The pages beside the page, with how the page links to them and what they hold."""
    found: list[dict[str, Any]] = []
    for start in range(0, len(cells), CHUNK):
        part, name = cells[start : start + CHUNK], f"{start // CHUNK + 1:03}.html"
        found.append(
            {
                "name": name,
                "link": f"{quote(beside(Path(file)).name)}/{name}",
                "first": start + 1,
                "last": start + len(part),
                "scenarios": list(dict.fromkeys(cell["scenario"] for cell in part)),
                "failed": sum(cell["verdict"] == "FAIL" for cell in part),
                "errors": sum(cell["verdict"] == "ERROR" for cell in part),
                "groups": _groups(part, blocks[start : start + CHUNK]),
            }
        )
    return found

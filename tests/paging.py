"""Run folders with cells of any content, and HTML pages taken apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
from heldout import hashes, prompts, rows, scenario
from heldout.cell import Cell, Record
from heldout.rows import Row

SUITE, SCENARIO = "vault-write", "P1-L1-reporting"
VOID = {"meta", "input", "br", "img", "link", "base", "embed", "source", "hr"}


def task() -> str:
    return scenario.find(SCENARIO).task


def task_digest() -> str:
    return hashes.of_bytes(prompts.source(scenario.find(SCENARIO)).encode())


def facts(
    message: str = "Done.", actions: list[dict[str, Any]] | None = None, spawns: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """As much of facts.json as a page shows."""
    return {
        "schema": 1,
        "answers": {"final_message": message, "visible_text": [message]},
        "actions": actions or [],
        "spawns": spawns or [],
    }


def action(tool: str, **given: Any) -> dict[str, Any]:
    return {"n": 1, "agent": "main", "tool": tool, "input": given, "ok": True, "denied": False, "result_bytes": 7}


def spawn(description: str) -> dict[str, Any]:
    told = {"type": "general-purpose", "requested_model": "haiku", "resolved_model": "claude-haiku-4-5"}
    return {**told, "description": description, "status": "completed", "rounds": 2, "output_tokens": 90}


@dataclass
class Run:
    """A run folder under construction; `add` makes a cell and its row, `write` the table."""

    folder: Path
    rows: list[Row] = field(default_factory=list[Row])

    def add(
        self,
        verdict: str = "PASS",
        *,
        facts: Mapping[str, Any] | bytes | None = None,
        model: str = "haiku",
        reasons: tuple[str, ...] = (),
        name: str = SCENARIO,
        task: str | None = None,
        info: Mapping[str, str] | None = None,
    ) -> Path:
        cell = Cell(self.folder, SUITE, name, model, sum(row.model == model for row in self.rows) + 1)
        cell.path.mkdir(parents=True)
        record = Record(SUITE, name, model, cell.rep, "claude", "s", "/sandboxes/0f/work", "/sandboxes/0f/work/project")
        record.run_parts = {"task": task_digest() if task is None else task}
        record.served, record.client, record.started = ["claude-haiku-4-5"], "2.1.332", "2026-01-02T03:04:05Z"
        record.write(cell.path)
        if facts is not None:
            (cell.path / "facts.json").write_bytes(facts if isinstance(facts, bytes) else orjson.dumps(facts))
        outcome = {"PASS": "pass", "FAIL": "fail", "ERROR": "undecided"}[verdict]
        told = {"suite": SUITE, "agent": "claude", "cli": "2.1.332", "served": "claude-haiku-4-5", **(info or {})}
        self.rows.append(Row(name, model, cell.rep, verdict, {"A": outcome}, reasons, told))
        return cell.path

    def write(self) -> Path:
        rows.write(self.folder / "results.tsv", self.rows)
        return self.folder


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    path: tuple[str, ...]
    text: str = ""

    @property
    def words(self) -> str:
        return " ".join(self.text.split())


class Page(HTMLParser):
    """Every element of a page with the text below it; `broken` has end tags that close nothing."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.open: list[Element] = []
        self.broken: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_data(" ")  # what stands in two elements is not one word
        element = Element(tag, {key: value or "" for key, value in attrs}, tuple(item.tag for item in self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1].tag != tag:
            self.broken.append(tag)
        else:
            self.open.pop()
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]

    def with_class(self, name: str) -> list[Element]:
        return [element for element in self.elements if name in element.attributes.get("class", "").split()]

    def cell(self, number: int) -> str:
        """The text of a cell, white space aside."""
        return next(element for element in self.elements if element.attributes.get("id") == f"c{number}").words

    @property
    def text(self) -> str:
        return next(element for element in self.elements if element.tag == "body").words

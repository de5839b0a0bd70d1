"""Tables for people: aligned text, or Markdown that a cell's content cannot break."""

from collections.abc import Sequence

Grid = Sequence[Sequence[str]]


def table(grid: Grid, form: str) -> list[str]:
    """The lines of a table, its first row being the head. `form` is text or md."""
    return _markdown(grid) if form == "md" else _aligned(grid)


def escaped(text: str, form: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;") if form == "md" else text


def heading(text: str, form: str) -> list[str]:
    """A heading with its blank lines."""
    return ["", f"## {text[:1].upper()}{text[1:]}" if form == "md" else text, ""]


def _aligned(grid: Grid) -> list[str]:
    widths = [max(len(line[column]) for line in grid) for column in range(len(grid[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in grid]


def _markdown(grid: Grid) -> list[str]:
    lines = [f"| {' | '.join(escaped(cell, 'md') for cell in line)} |" for line in grid]
    return [lines[0], "|" + " --- |" * len(grid[0]), *lines[1:]]

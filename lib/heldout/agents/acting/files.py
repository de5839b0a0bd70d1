"""The Read, Write and Edit tools: what they do to files and what they say, as the client does."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heldout.agents.acting.outcome import Outcome
from heldout.agents.acting.writer import kilobytes

MAX_BYTES = 256 * 1024  # of a file that is read whole
MAX_TOKENS = 25_000  # of one answer
_FRESH = " (file state is current in your context — no need to Read it back)"


def missing(cwd: Path) -> str:
    return f"File does not exist. Note: your current working directory is {cwd}."


def read(path: Path, given: Mapping[str, Any], cwd: Path) -> Outcome:
    """Lines numbered from 1, `number<tab>line`; the last of them is the empty one after a final newline."""
    if path.is_dir():
        return Outcome.failed(f"EISDIR: illegal operation on a directory, read '{path}'")
    if not path.exists():
        return Outcome.failed(missing(cwd))
    raw = path.read_bytes()
    ranged = "offset" in given or "limit" in given
    if len(raw) > MAX_BYTES and not ranged:
        return Outcome.failed(_too_much(kilobytes(len(raw)), "size (256KB)"))
    lines = raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    start = int(given.get("offset", 1))
    chosen = lines[max(0, start - 1) :][: int(given["limit"]) if "limit" in given else None]
    tokens = _tokens(chosen)
    shape: dict[str, Any] = {"startLine": start, "totalLines": len(lines)}
    if tokens > MAX_TOKENS and ranged:
        return Outcome.failed(_too_much(f"{tokens} tokens", f"tokens ({MAX_TOKENS})"))
    if tokens > MAX_TOKENS:
        chosen = chosen[: int(len(chosen) * 0.85 * MAX_TOKENS / tokens)]
        shape["truncatedByTokenCap"] = True
    content = "\n".join(chosen)
    file = {"filePath": given["file_path"], "content": content, "numLines": len(chosen), **shape}
    result = {"type": "text", "file": file}
    if not raw:
        return Outcome(_warning("the file exists but the contents are empty."), result)
    if not chosen:
        short = f"the file exists but is shorter than the provided offset ({start}). The file has {len(lines)} lines."
        return Outcome(_warning(short), result)
    return Outcome("\n".join(f"{number}\t{line}" for number, line in enumerate(chosen, start)), result)


def refuse_write(path: Path) -> str:
    """Why a Write is not even tried; empty if it is."""
    if path.is_dir():
        return f"{path} is a directory, not a file. To create a file inside it, include the file name in file_path."
    return ""


def write(path: Path, given: Mapping[str, Any]) -> Outcome:
    if path.is_symlink():
        return _linked(path)
    before = _text(path) if path.exists() else None
    content = str(given["content"])
    _replace(path, content.encode("utf-8", "surrogatepass"))
    result = {"type": "create" if before is None else "update", "filePath": given["file_path"], "content": content}
    result |= {"structuredPatch": _patch(before, content) if before is not None else [], "originalFile": before}
    made = f"File created successfully at: {given['file_path']}{_FRESH}"
    return Outcome(made if before is None else _updated(given), {**result, "userModified": False})


def refuse_edit(path: Path, given: Mapping[str, Any], cwd: Path) -> str:
    """Why an Edit is not even tried; empty if it is."""
    old, new = str(given["old_string"]), str(given["new_string"])
    if old == new:
        return "No changes to make: old_string and new_string are exactly the same."
    if not path.is_file():
        return missing(cwd) if old or path.exists() else ""
    if not old:
        return "Cannot create new file - file already exists." if path.stat().st_size else ""
    count = _text(path).count(old)
    if not count:
        return f"String to replace not found in file.\nString: {old}"
    if count > 1 and not given.get("replace_all"):
        return (
            f"Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, "
            "set replace_all to true. To replace only one occurrence, please provide more context to uniquely "
            f"identify the instance.\nString: {old}"
        )
    return ""


def edit(path: Path, given: Mapping[str, Any]) -> Outcome:
    """Replace in the text with \\n line ends; a file with \\r\\n keeps them."""
    if path.is_symlink():
        return _linked(path)
    before = _text(path) if path.exists() else ""
    old, new, everywhere = str(given["old_string"]), str(given["new_string"]), bool(given.get("replace_all"))
    # Deleting a string takes the line end after it along.
    gone = old + "\n" if not new and not old.endswith("\n") and old + "\n" in before else old
    after = before.replace(gone, new, -1 if everywhere else 1) if old else new
    windows = path.exists() and b"\r\n" in path.read_bytes()
    _replace(path, (after.replace("\n", "\r\n") if windows else after).encode("utf-8", "surrogatepass"))
    result = {"filePath": given["file_path"], "oldString": old, "newString": new, "originalFile": before}
    result |= {"structuredPatch": _patch(before, after), "userModified": False, "replaceAll": everywhere}
    if everywhere:
        return Outcome(
            f"The file {given['file_path']} has been updated. All occurrences were successfully replaced.{_FRESH}",
            result,
        )
    return Outcome(_updated(given), result)


def _updated(given: Mapping[str, Any]) -> str:
    return f"The file {given['file_path']} has been updated successfully.{_FRESH}"


def _linked(path: Path) -> Outcome:
    target = os.path.realpath(path)
    why = f"Refusing to write {path}: it is a symbolic link. Write to the link's target path instead: {target}."
    return Outcome.failed(why, denial="permission-rule")


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


def _replace(path: Path, data: bytes) -> None:
    """A new file in the old one's place, with its mode: the inode changes, as it does with the client."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.tmp.{os.getpid()}")
    beside.write_bytes(data)
    if path.exists():
        beside.chmod(path.stat().st_mode & 0o7777)
    os.replace(beside, path)


def _patch(before: str, after: str) -> list[dict[str, Any]]:
    """`structuredPatch`: the hunks of a unified diff with three lines of context."""
    import difflib

    old, new = before.splitlines(), after.splitlines()
    hunks = list[dict[str, Any]]()
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines = list[str]()
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [" " + line for line in old[i1:i2]]
            else:
                lines += ["-" + line for line in old[i1:i2]] + ["+" + line for line in new[j1:j2]]
        first, last = group[0], group[-1]
        where = {"oldStart": first[1] + 1, "oldLines": last[2] - first[1], "newStart": first[3] + 1}
        hunks.append({**where, "newLines": last[4] - first[3], "lines": lines})
    return hunks


def _tokens(lines: list[str]) -> int:
    """The client's estimate: a quarter of the text's length as a JSON string, where a line end counts twice."""
    return (sum(map(len, lines)) + 2 * len(lines)) // 4 + 19


def _warning(text: str) -> str:
    return f"<system-reminder>Warning: {text}</system-reminder>"


def _too_much(found: str, allowed: str) -> str:
    return (
        f"File content ({found}) exceeds maximum allowed {allowed}. Use offset and limit parameters to read specific "
        "portions of the file, or search for specific content instead of reading the whole file."
    )

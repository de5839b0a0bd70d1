"""Playing an actor in a test: a job in folders of its own, and readers of what it leaves."""

import json
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from heldout.agents import actor
from heldout.agents.job import Ended, Job, Limits

SESSION = "11111111-2222-4333-8444-555555555555"
Line = dict[str, Any]


def bash(command: str, **more: Any) -> Line:
    return {"Bash": {"command": command, **more}}


def calls(*items: Line, **more: Any) -> Line:
    """One turn with calls."""
    return {"calls": list(items), **more}


def each(*items: Line) -> list[Line]:
    """A turn for each call, and a last word."""
    return [*(calls(item) for item in items), {"text": "done"}]


@dataclass
class Played:
    """A finished session and where it took place."""

    root: Path
    ended: Ended

    @property
    def cell(self) -> Path:
        return self.root / "cell"

    @property
    def cwd(self) -> Path:
        return self.root / "work" / "project"

    @property
    def stream(self) -> list[Line]:
        return lines(self.cell / "transcript.jsonl")

    @property
    def native(self) -> list[Line]:
        return lines(self.cell / "session" / f"{SESSION}.jsonl")

    @property
    def family(self) -> dict[str, list[Line]]:
        """Lines of the subagents' files, by agent id."""
        folder = self.cell / "session" / SESSION / "subagents"
        return {path.stem.removeprefix("agent-"): lines(path) for path in sorted(folder.glob("*.jsonl"))}

    @property
    def everything(self) -> list[Line]:
        """Lines of the main loop's file and of all subagents'."""
        return [*self.native, *(line for source in self.family.values() for line in source)]

    @property
    def metas(self) -> dict[str, Line]:
        """Meta files of the subagents, by description."""
        folder = self.cell / "session" / SESSION / "subagents"
        found = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.meta.json"))]
        return {meta["description"]: meta for meta in found}

    def results(self, source: Iterable[Line] | None = None) -> list[Line]:
        """The tool_result blocks, in order, of the main loop's native file or of `source`."""
        found = (line["message"]["content"] for line in source or self.native if line["type"] == "user")
        return [block for content in found for block in content if isinstance(block, dict) and "tool_use_id" in block]

    def texts(self) -> list[Any]:
        """What the model got for each call."""
        return [block["content"] for block in self.results()]

    def native_result(self, place: int) -> Any:
        """The `toolUseResult` of a call of the main loop."""
        return [line["toolUseResult"] for line in self.native if "toolUseResult" in line][place]

    def attachments(self, kind: str, source: Iterable[Line] | None = None) -> list[Line]:
        found = [line for line in source or self.native if line["type"] == "attachment"]
        return [line for line in found if line["attachment"]["type"] == kind]

    def events(self, kind: str, subtype: str | None = None) -> list[Line]:
        return [
            line
            for line in self.stream
            if line["type"] == kind and line.get("subtype") == (subtype or line.get("subtype"))
        ]


def lines(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def play(
    root: Path,
    turns: Sequence[Line],
    *,
    ends: str = "completed",
    plugins: Sequence[Path] = (),
    env: Mapping[str, str] | None = None,
    unset: Sequence[str] = (),
    background: bool = False,
    limits: Limits | None = None,
    prompt: str = "do it",
    name: str = "x",
) -> Played:
    """Play `turns` in `root`/work/project, which may exist already."""
    for folder in ("cell", "home", "tmp", "config", "work/project"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    script = root / "actors.yaml"
    script.write_text(yaml.safe_dump({"x": {"turns": list(turns), "ends": ends}}, allow_unicode=True))
    job = Job(
        cell=root / "cell",
        sandbox=root / "work",
        cwd=root / "work" / "project",
        home=root / "home",
        tmp=root / "tmp",
        config=root / "config",
        prompt=prompt,
        model=name,
        session_id=SESSION,
        env=env or {},
        unset=unset,
        plugins=plugins,
        background=background,
        limits=limits or Limits(turns=None, seconds=120.0, usd=None),
        actor_file=script,
    )
    return Played(root, actor.start(job))


def plugin(root: Path, name: str, files: Mapping[str, str], hooks: Mapping[str, Any] | None = None) -> Path:
    """Make a plugin; files of bin/ and hooks/*.sh are executable."""
    folder = root / "plugins" / name
    everything = {".claude-plugin/plugin.json": json.dumps({"name": name, "version": "0.1.0"}), **files}
    if hooks:
        everything["hooks/hooks.json"] = json.dumps({"hooks": hooks})
    for path, text in everything.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        if path.startswith("bin/") or path.endswith(".sh"):
            target.chmod(target.stat().st_mode | stat.S_IXUSR)
    return folder


def settings(root: Path, hooks: Mapping[str, Any]) -> None:
    """The project's own hooks."""
    folder = root / "work" / "project" / ".claude"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}))


def hook(*commands: str, matcher: str = "", **more: Any) -> Line:
    """One group of hooks of an event."""
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command, **more} for command in commands]}


def answer(**fields: Any) -> str:
    """A shell command that answers in JSON."""
    return f"cat >/dev/null; echo '{json.dumps(fields)}'"


def specific(event: str, **fields: Any) -> str:
    return answer(hookSpecificOutput={"hookEventName": event, **fields})

"""What the client loads at its start: plugins given by folder, and the project's own skills and agents.

A plugin is a folder with `.claude-plugin/plugin.json`, `skills/*/SKILL.md`, `commands/*.md`, `agents/*.md`, `bin/`.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heldout.errors import Refusal

READ_ONLY = ("Bash", "Read", "Skill", "SendMessage")


@dataclass(frozen=True)
class Skill:
    """A skill or command: `full` is its name in attributions, `names` all that call it; a command has no `folder`."""

    full: str
    plugin: str
    root: Path
    folder: Path | None
    names: tuple[str, ...]
    description: str
    body: str
    hidden: bool

    def text(self, args: str) -> str:
        """What the model reads when the skill is called: the body with its arguments and folders filled in."""
        body = self.body.replace("${CLAUDE_PLUGIN_ROOT}", str(self.root))
        body = body.replace("${CLAUDE_SKILL_DIR}", str(self.folder or self.root))
        return (f"Base directory for this skill: {self.folder}\n\n" if self.folder else "") + _fill(body, args)


@dataclass(frozen=True)
class Role:
    """A type of subagent: its model as written (empty: none) and the tools it has (None: all)."""

    name: str
    model: str = ""
    tools: tuple[str, ...] | None = None
    built_in: bool = False


@dataclass(frozen=True)
class Plugin:
    name: str
    version: str
    root: Path

    def init(self) -> dict[str, str]:
        """Its entry in `init.plugins`."""
        entry = {"name": self.name, "path": str(self.root), "source": f"{self.name}@inline"}
        return {**entry, "version": self.version} if self.version else entry


@dataclass(frozen=True)
class Loaded:
    """All plugins, skills (the project's first), roles by name, and the plugin folders that are not there."""

    plugins: tuple[Plugin, ...]
    skills: tuple[Skill, ...]
    roles: Mapping[str, Role]
    missing: tuple[Path, ...]

    def skill(self, name: str) -> Skill | None:
        return next((skill for skill in self.skills if name in skill.names), None)


def load(folders: Iterable[Path], project: Path) -> Loaded:
    """Load plugin folders and the project's `.claude/`; Refusal for a file that the client could not read either."""
    plugins, missing = list[Plugin](), list[Path]()
    for folder in folders:
        if folder.is_dir():
            plugins.append(_plugin(folder))
        else:
            missing.append(folder)
    local = project / ".claude"
    skills = [*_skills(local, ""), *(skill for plugin in plugins for skill in _skills(plugin.root, plugin.name))]
    roles = [*_BUILT_IN, *_roles(local, ""), *(role for plugin in plugins for role in _roles(plugin.root, plugin.name))]
    roles.sort(key=lambda role: role.name.casefold())
    return Loaded(tuple(plugins), tuple(skills), {role.name: role for role in roles}, tuple(missing))


_BUILT_IN = (
    Role("claude", built_in=True),
    Role("Explore", tools=READ_ONLY, built_in=True),
    Role("general-purpose", built_in=True),
    Role("Plan", tools=READ_ONLY, built_in=True),
    Role("statusline-setup", tools=("Read", "Edit"), built_in=True),
)


def read_json(path: Path) -> Any:
    """A JSON file; None if there is none, Refusal if it is not JSON: a treatment that is not delivered must be loud."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise Refusal(f"cannot read '{path}': not JSON: {error}") from error


def _plugin(folder: Path) -> Plugin:
    manifest = read_json(folder / ".claude-plugin" / "plugin.json") or {}
    return Plugin(str(manifest.get("name") or folder.name), str(manifest.get("version", "")), folder)


def _skills(root: Path, plugin: str) -> Iterable[Skill]:
    prefix = f"{plugin}:" if plugin else ""
    for file in sorted(root.glob("skills/*/SKILL.md")):
        head, body = front_matter(file)
        full, named = prefix + file.parent.name, str(head.get("name", ""))
        # The bare name is the one of the front matter; a folder name alone is known with its plugin only.
        names = (full, prefix + named, named) if named else (full,)
        yield _skill(head, full, plugin, root, file.parent, names, body)
    for file in sorted(root.glob("commands/*.md")):
        head, body = front_matter(file)
        full = prefix + file.stem
        yield _skill(head, full, plugin, root, None, (full,), body)


def _skill(
    head: Mapping[str, Any], full: str, plugin: str, root: Path, folder: Path | None, names: tuple[str, ...], body: str
) -> Skill:
    description, hidden = str(head.get("description") or ""), head.get("disable-model-invocation") is True
    return Skill(full, plugin, root, folder, names, description, body, hidden)


def _roles(root: Path, plugin: str) -> Iterable[Role]:
    for file in sorted(root.glob("agents/*.md")):
        head, _ = front_matter(file)
        tools = head.get("tools")
        listed = tools.split(",") if isinstance(tools, str) else tools
        name = (f"{plugin}:" if plugin else "") + str(head.get("name") or file.stem)
        yield Role(name, str(head.get("model") or ""), tuple(str(tool).strip() for tool in listed) if listed else None)


def front_matter(file: Path) -> tuple[dict[str, Any], str]:
    """The front matter of a Markdown file and what follows it; no or broken front matter is an empty one."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"cannot read '{file}': {error}") from error
    found = re.match(r"---\n(.*?\n|)---\n?(.*)", text, re.DOTALL)
    if not found:
        return {}, text
    try:
        head = yaml.load(found[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        head = {}
    return head if isinstance(head, dict) else {}, found[2].lstrip("\n")


def _fill(body: str, args: str) -> str:
    """Arguments by the client's rules: `$ARGUMENTS`, `$ARGUMENTS[0]`, `$0`; appended where the body names none."""
    if not args:
        return re.sub(r"\$ARGUMENTS(?!\[)", "", body)
    try:
        words = shlex.split(args)
    except ValueError:
        words = args.split()

    def word(found: re.Match[str]) -> str:
        place = int(found[1] or found[2]) if found[1] or found[2] else None
        return args if place is None else words[place] if place < len(words) else ""

    filled, count = re.subn(r"\$ARGUMENTS\[(\d+)\]|\$(\d+)|\$ARGUMENTS", word, body)
    return filled if count else f"{body}\n\nARGUMENTS: {args}"

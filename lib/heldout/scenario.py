"""Scenario files: loaded, validated and found by name.

A scenario is one Markdown file with YAML front matter and sections (DESIGN: "Scenario files"). Everything
that can be wrong with it is an error before anything runs, naming file, line and key. What its check words
accept is known to `heldout.checks`, which validates the axes.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from heldout.errors import Refusal
from heldout.files import FIXTURES, PLUGINS, ROOT, natural
from heldout.rows import VERDICTS
from heldout.yamlfile import Document, kind, near_miss
from heldout.yamlfile import load as load_yaml

SETS = {"run": ROOT / "scenarios", "reserve": ROOT / "scenarios-reserve"}
SECTIONS = ("Task", "Criteria", "Expected files", "Notes")
POSTURES = ("unprompted", "prompted", "trace")
POLARITIES = ("positive", "negative")
# What an agent reads by itself; a fixture may lack it, so that an overlay can bring it.
AGENT_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

# key: (types, required). A number is also fine where text is expected in env, where quoting is often forgotten.
_KEYS: dict[str, tuple[tuple[type, ...], bool]] = {
    "id": ((str,), True),
    "suite": ((str,), True),
    "title": ((str,), True),
    "posture": ((str,), True),
    "polarity": ((str,), False),
    "level": ((int,), False),
    "pair": ((str,), False),
    "fixture": ((str,), True),
    "trees": ((list,), False),
    "cwd": ((str,), False),
    "plugins": ((list,), False),
    "skill": ((str,), False),
    "stubs": ((list,), False),
    "subject": ((list,), False),
    "env": ((dict,), False),
    "unset": ((list,), False),
    "require": ((list,), False),
    "background": ((bool,), False),
    "limits": ((dict,), False),
    "forbid_in_task": ((list,), False),
    "trace": ((str,), False),
    "axes": ((dict,), True),
}
# No agent runs in a scenario of posture trace, so that nothing of a sandbox or session can be said.
_TRACE_KEYS = ("id", "suite", "title", "posture", "polarity", "fixture", "trace", "axes")
_LIMITS = {"turns": (int,), "seconds": (int, float), "usd": (int, float)}


@dataclass(frozen=True)
class Limits:
    """Where a session is stopped: assistant turns, wall seconds, US dollars (None: not limited)."""

    turns: int | None = None
    seconds: float = 900.0
    usd: float | None = None


@dataclass(frozen=True)
class Scenario:
    """One scenario, validated but for the arguments of its check words."""

    path: Path
    set: str  # run | reserve
    id: str
    suite: str
    title: str
    posture: str
    polarity: str | None
    level: int | None
    pair: str | None
    fixture: str
    trees: tuple[str, ...]
    cwd: str
    plugins: tuple[str, ...]
    skill: str | None
    stubs: tuple[str, ...]  # plugins of the instrument: loaded whatever the run is given as plugins
    subject: tuple[str, ...]
    env: Mapping[str, str]
    unset: tuple[str, ...]
    require: tuple[str, ...]
    background: bool
    limits: Limits
    forbid_in_task: tuple[str, ...]
    trace: str | None
    axes: Mapping[str, Any]  # letter -> check expression, as written
    sections: Mapping[str, str]
    document: Document = field(repr=False, compare=False)

    @property
    def task(self) -> str:
        """The prompt. Only the run itself may let it out (DESIGN: held-out discipline)."""
        return self.sections["Task"]

    @property
    def expected_files(self) -> tuple[str, ...]:
        """Paths listed under `## Expected files`: one a line, bare or a list item, optionally back-quoted."""
        lines = (line.strip() for line in self.sections.get("Expected files", "").splitlines())
        items = (re.sub(r"^[-*]\s+", "", line).strip().strip("`").strip() for line in lines)
        return tuple(item for item in items if item)

    @property
    def repository(self) -> str:
        """The tree that is a git repository: the one that the agent works in."""
        return Path(self.cwd).parts[0] if self.cwd else ""

    @property
    def fixture_root(self) -> Path:
        return FIXTURES / self.fixture

    @property
    def actors(self) -> Path:
        """The scripts of the embedded agent for this scenario (the file may be missing)."""
        return FIXTURES / self.suite / "actors" / f"{self.id}.yaml"

    @property
    def runner_prompt(self) -> Path:
        """What a prompted scenario's Task is put into (the file may be missing: then the Task is the prompt)."""
        return FIXTURES / self.suite / "runner-prompt.md"

    @property
    def variants(self) -> Path:
        """The changes of the saved trace that the self-test scores (the file may be missing)."""
        return FIXTURES / self.suite / "variants" / f"{self.id}.yaml"

    @property
    def trace_schema(self) -> Path:
        """The JSON Schema of the suite's traces."""
        return self.fixture_root / "trace.schema.json"

    def source(self, subject: str, overlay: Path | None) -> Path:
        """Where a subject path is taken from: the overlay that has it, else the fixture."""
        return overlay / subject if overlay and (overlay / subject).exists() else self.fixture_root / subject

    def rubric(self, name: str) -> Path:
        return FIXTURES / self.suite / "rubrics" / f"{name}.md"

    def plugin_roots(self, override: tuple[Path, ...] = ()) -> tuple[Path, ...]:
        """The plugins of a run: those given at run time, else the scenario's own; and its stubs."""
        return (override or tuple(PLUGINS / name for name in self.plugins)) + self.stub_roots

    @property
    def stub_roots(self) -> tuple[Path, ...]:
        return tuple(PLUGINS / name for name in self.stubs)


def load(path: Path) -> Scenario:
    """Read and validate one scenario file; raises Refusal naming file, line and key."""
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: not UTF-8 at byte {error.start}") from error
    if not text.startswith("---\n"):
        raise Refusal(f"{path}:1: no front matter", "the first line must be '---'")
    head, fence, body = text[4:].partition("\n---\n")
    if not fence:
        raise Refusal(f"{path}:1: the front matter has no end", "close it with a line '---'")
    document = Document(head + "\n", path, first_line=2)
    _validate(document)
    return _build(path, document, _sections(body, path, head.count("\n") + 4))


def _sections(body: str, path: Path, line: int) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for number, text in enumerate(body.split("\n"), line):
        if text.startswith("## "):
            name = text[3:].strip()
            if name not in SECTIONS:
                # The line may be part of a held-out Task: only a slip of the pen is repeated.
                mend = near_miss(name, SECTIONS)
                told = f"unknown section '{name}'" if mend.startswith("did") else "unknown section"
                raise Refusal(f"{path}:{number}: {told}", mend)
            if name in found:
                raise Refusal(f"{path}:{number}: section '{name}' occurs twice")
            found[name] = ""
        elif name:
            found[name] += text + "\n"
        elif text.strip():
            raise Refusal(f"{path}:{number}: text before the first section", "begin with '## Task'")
    found = {name: text.strip("\n") for name, text in found.items()}
    for name in ("Task", "Criteria"):
        if not found.get(name, "").strip():
            raise Refusal(f"{path}: section '## {name}' is missing or empty")
    return found


def _validate(document: Document) -> None:
    data = document.data
    document.only_keys(data, _KEYS)
    for key, (types, required) in _KEYS.items():
        if key not in data:
            if required:
                raise document.refuse(f"key '{key}' is missing")
        elif not isinstance(data[key], types) or (isinstance(data[key], bool) and bool not in types):
            expected = kind(types[0]())
            raise document.refuse(f"'{key}' must be {expected}, not {kind(data[key])}", key)
        elif data[key] in ("", [], {}) and key not in ("plugins", "subject", "env", "unset", "require"):
            raise document.refuse(f"'{key}' is empty", key)
    for key in ("trees", "plugins", "stubs", "subject", "unset", "require", "forbid_in_task"):
        for place, item in enumerate(data.get(key, ())):
            if not isinstance(item, str) or not item.strip():
                raise document.refuse(f"'{key}' must list texts, not {kind(item)}", key, place)
    for name, value in data.get("env", {}).items():
        if not isinstance(name, str) or isinstance(value, bool) or not isinstance(value, (str, int)):
            raise document.refuse(f"variable '{name}' must be text, not {kind(value)}", "env", name, mend="quote it")
    _choice(document, "posture", POSTURES)
    _choice(document, "polarity", POLARITIES)
    document.only_keys(data.get("limits", {}), _LIMITS, "limits", what="limit")
    for name, value in data.get("limits", {}).items():
        if isinstance(value, bool) or not isinstance(value, _LIMITS[name]) or not 0 < value < math.inf:
            number = "whole number" if _LIMITS[name] == (int,) else "number"
            raise document.refuse(f"limit '{name}' must be a {number} above 0, not '{value}'", "limits", name)
    for letter in data["axes"]:
        if not isinstance(letter, str) or not re.fullmatch("[A-Z]", letter):
            raise document.refuse(f"axis '{letter}' must be one capital letter", "axes", letter)
    if data["posture"] == "trace" and "trace" not in data:
        raise document.refuse("key 'trace' is missing: a trace scenario names its trace fixture")
    if data["posture"] != "trace" and "cwd" not in data:
        raise document.refuse("key 'cwd' is missing")
    if data["posture"] == "trace":
        document.only_keys(data, _TRACE_KEYS, what="key of a trace scenario")
    elif "trace" in data:
        raise document.refuse("only a scenario of posture 'trace' has a trace", "trace")
    for name in data.get("env", {}):
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise document.refuse(f"'{name}' is no name of a variable", "env", name)
        if strange := re.search(r"\{(?!sandbox\})\w+\}", str(data["env"][name])):
            raise document.refuse(f"'{strange[0]}' stands for nothing", "env", name, mend="use {sandbox}")
    if data["posture"] != "prompted" and "skill" in data:
        raise document.refuse(f"'skill' is for prompted scenarios, and this one is {data['posture']}", "skill")
    for key in ("cwd", "fixture", "trees", "subject", "trace"):
        for item in data.get(key, ()) if isinstance(data.get(key), list) else (data.get(key),):
            if item and (item.startswith(("/", "~")) or ".." in Path(item).parts):
                raise document.refuse(f"'{item}' must be a path inside the fixture", key)


def _choice(document: Document, key: str, known: tuple[str, ...]) -> None:
    value = document.data.get(key)
    if value is not None and value not in known:
        raise document.refuse(f"'{key}' is '{value}'", key, mend=f"use one of: {', '.join(known)}")


def _require(document: Document) -> None:
    """What is required can be there: a hook of a plugin that has one, subagents of a model that there is."""
    names = [plugin_name(PLUGINS / plugin) for plugin in document.data.get("plugins", ())]
    subagents = (f"subagents:{name}" for name in ("as-asked", *model_families()))
    requirable = [*(f"hook:{name}" for name in names), *subagents]
    for place, item in enumerate(document.data.get("require", ())):
        if item not in requirable:
            raise document.refuse(f"cannot require '{item}'", "require", place, mend=near_miss(item, requirable))
        if problem := hookless([item], [PLUGINS / plugin for plugin in document.data.get("plugins", ())]):
            raise document.refuse(problem, "require", place)


def hookless(required: Iterable[str], roots: Iterable[Path]) -> str:
    """Why a required hook can never be delivered by these plugins, or ''."""
    hooks = {plugin_name(root): session_start(root) for root in roots}
    for item in required:
        subject, _, name = item.partition(":")
        if subject == "hook" and not hooks.get(name):
            has = f"plugin '{name}' has no SessionStart hook" if name in hooks else f"there is no plugin '{name}'"
            return f"cannot require '{item}': {has}"
    return ""


def refuse_plugins(scenario: Scenario, override: tuple[Path, ...]) -> None:
    """Raise Refusal when plugins given for a run cannot deliver what the scenario requires: all would be ERROR."""
    if override and (problem := hookless(scenario.require, scenario.plugin_roots(override))):
        given = ", ".join(f"'{root}'" for root in override)
        raise Refusal(f"{scenario.id} {problem} among {given}", "name a plugin that calls itself so and has the hook")


@cache
def model_families() -> tuple[str, ...]:
    """The families of models that there are: the aliases of lib/models.yaml."""
    return tuple(load_yaml(ROOT / "lib" / "models.yaml").data)


def _build(path: Path, document: Document, sections: dict[str, str]) -> Scenario:
    data = document.data
    identity, suite = data["id"], data["suite"]
    if not _ID.fullmatch(identity) or any(word in identity for word in VERDICTS):
        raise document.refuse(f"id '{identity}' must be letters, digits, '.', '_' and '-'", "id")
    if identity != path.stem:
        raise document.refuse(f"id '{identity}' is not the file's name '{path.stem}'", "id")
    if suite != path.parent.name:
        raise document.refuse(f"suite '{suite}' is not the folder's name '{path.parent.name}'", "suite")
    trees = tuple(data.get("trees", ())) or ((Path(data["cwd"]).parts[0],) if "cwd" in data else ())
    if trees and Path(data["cwd"]).parts[0] not in trees:
        raise document.refuse(f"cwd '{data['cwd']}' lies in none of the trees {', '.join(trees)}", "cwd")
    for place, tree in enumerate(trees):
        if not (FIXTURES / data["fixture"] / tree).is_dir():
            raise document.refuse(f"no folder '{data['fixture']}/{tree}' in fixture/", "trees", place)
    fixture = FIXTURES / data["fixture"]
    if trees and not (fixture / data["cwd"]).is_dir() and not (fixture / "prepare").exists():
        raise document.refuse(f"no folder '{data['fixture']}/{data['cwd']}' in fixture/", "cwd")
    for place, item in enumerate(data.get("subject", ())):
        if not (fixture / item).exists() and Path(item).name not in AGENT_FILES:
            raise document.refuse(f"no '{data['fixture']}/{item}' in fixture/", "subject", place)
    for key in ("plugins", "stubs"):
        for place, plugin in enumerate(data.get(key, ())):
            if not (PLUGINS / plugin).is_dir():
                known = [item.name for item in PLUGINS.iterdir()] if PLUGINS.is_dir() else []
                raise document.refuse(
                    f"no plugin '{plugin}' in fixture/plugins/", key, place, mend=near_miss(plugin, known)
                )
    _require(document)
    if "skill" in data:
        folders = [PLUGINS / plugin / "skills" for plugin in data.get("plugins", ())]
        skills = [item.parent.name for folder in folders for item in folder.glob("*/SKILL.md")]
        if data["skill"] not in skills:
            what = f"no plugin of the scenario has the skill '{data['skill']}'"
            raise document.refuse(what, "skill", mend=near_miss(data["skill"], skills))
    return Scenario(
        path=path,
        set="reserve" if _reserved(path) else "run",
        id=identity,
        suite=suite,
        title=data["title"],
        posture=data["posture"],
        polarity=data.get("polarity"),
        level=data.get("level"),
        pair=data.get("pair"),
        fixture=data["fixture"],
        trees=trees,
        cwd=data.get("cwd", ""),
        plugins=tuple(data.get("plugins", ())),
        skill=data.get("skill"),
        stubs=tuple(data.get("stubs", ())),
        subject=tuple(data.get("subject", ())) + ((data["trace"],) if "trace" in data else ()),
        env={name: str(value) for name, value in data.get("env", {}).items()},
        unset=tuple(data.get("unset", ())),
        require=tuple(data.get("require", ())),
        background=data.get("background", False),
        limits=Limits(**data.get("limits", {})),
        forbid_in_task=tuple(data.get("forbid_in_task", ())),
        trace=data.get("trace"),
        axes=data["axes"],
        sections=sections,
        document=document,
    )


def _reserved(path: Path) -> bool:
    """Whether a file lies in the reserve, as it is named or where its links lead."""
    folder = SETS["reserve"]
    return folder in path.absolute().parents or folder.resolve() in path.resolve().parents


def plugin_name(root: Path) -> str:
    """What a plugin calls itself: the name in its manifest; Refusal when it has none."""
    path = root / ".claude-plugin" / "plugin.json"
    try:
        name = json.loads(path.read_bytes())["name"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refusal(f"'{root}' is not a plugin", "it needs .claude-plugin/plugin.json with a name") from error
    return str(name)


def session_start(root: Path) -> list[str]:
    """The commands of a plugin's SessionStart hooks, as its hooks/hooks.json writes them."""
    try:
        data = json.loads((root / "hooks" / "hooks.json").read_bytes())
        groups = data["hooks"]["SessionStart"]
        return [str(hook["command"]) for group in groups for hook in group["hooks"] if hook.get("type") == "command"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def without_task(item: Scenario) -> Scenario:
    """The scenario with its Task withheld, for sessions that must not contain one."""
    return replace(item, sections={**item.sections, "Task": "The task is withheld."})


def files(set_name: str | None = None, suite: str | None = None) -> Iterator[Path]:
    """The scenario files of a set (both when None) and suite (all when None), in order of suite and name."""
    for name, folder in SETS.items():
        if set_name in (None, name):
            found = (path for path in folder.glob("*/*.md") if suite in (None, path.parent.name))
            yield from sorted(found, key=lambda path: (path.parent.name, natural(path.name)))


def suites() -> list[str]:
    return sorted({path.parent.name for path in files()})


def find(name: str) -> Scenario:
    """The scenario called `name`: an id, a unique prefix of one before a `-` (`P1`), `suite/ID`, or a file.

    A prefix means a scenario of the run-set first: one of the reserve is found by it only where the run-set has none.
    Raises Refusal with the near miss when there is none, or with the candidates when there are several.
    """
    if name.endswith(".md"):
        return load(Path(name).resolve())
    suite, _, wanted = name.rpartition("/")
    paths = [path for path in files() if suite in ("", path.parent.name)]
    found = [path for path in paths if path.stem == wanted]
    for folder in SETS.values() if wanted and not found else ():
        found = found or [path for path in paths if path.stem.startswith(f"{wanted}-") and folder in path.parents]
    if len(found) == 1:
        return load(found[0])
    if found:
        listed = ", ".join(f"{path.parent.name}/{path.stem}" for path in found)
        raise Refusal(f"scenario '{name}' is ambiguous", f"it may be {listed}")
    if suite and not paths:
        raise Refusal(f"unknown suite '{suite}'", near_miss(suite, suites()))
    raise Refusal(f"unknown scenario '{name}'", near_miss(wanted, {path.stem for path in paths}))

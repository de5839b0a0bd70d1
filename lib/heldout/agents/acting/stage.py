"""What the loops of one played session share: paths, environment, hooks, clocks, and the two transcripts."""

import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.agents import script
from heldout.agents.acting import hooks, plugins
from heldout.agents.acting.hooks import Hook, Ran
from heldout.agents.acting.ids import Ids
from heldout.agents.acting.ledger import Ledger
from heldout.agents.acting.writer import VERSION, Native, Stream, project_key
from heldout.agents.job import How, Job

if TYPE_CHECKING:
    from heldout.agents.acting.loop import Loop
    from heldout.agents.acting.spawn import Errand

MODEL = "heldout-actor"
TOOLS = ("Task", "Bash", "Edit", "Read", "SendMessage", "Skill", "Write")
MODE = "bypassPermissions"
NOTIFIED = {"kind": "task-notification", "producer": "session-task"}  # the origin of what a report brings about
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")


class Ending(Exception):
    """The session is over before its script is: a limit, or an end that the script asks for."""

    def __init__(self, how: How, detail: str) -> None:
        super().__init__(detail)
        self.how: How = how
        self.detail = detail


@dataclass
class Agent:
    """One subagent: who it is, who asked for it, and what it has done so far."""

    id: str
    role: plugins.Role
    description: str
    prompt: str
    model: str
    label: str  # the model as the request named it, else the id
    named: bool  # whether the request named one
    tool_use_id: str
    depth: int
    parent: str  # agent id of the subagent that spawned it, empty for the main loop
    background: bool
    used: list[str] = field(default_factory=list)  # tools, one entry a call
    usage: Mapping[str, int] = field(default_factory=dict)  # of its last message

    @property
    def tokens(self) -> int:
        return sum(self.usage.values())


class Stage:
    """The shared state of one session."""

    def __init__(self, job: Job, actor: script.Actor) -> None:
        self.job, self.actor = job, actor
        self.started = time.monotonic()
        self.until = self.started + job.limits.seconds
        self.ids = Ids(job.session_id)
        self.loaded = plugins.load(job.plugins, job.cwd)
        self.hooks = hooks.load(job.cwd, self.loaded.plugins)
        self.ledger = Ledger()
        self.main: Loop  # set by whoever begins the session
        self.loops: dict[str, Loop] = {}  # of the subagents, by id
        self.used: list[str] = []  # tools, in order of first use
        self.denials: list[dict[str, Any]] = []
        self.pending: deque[Errand] = deque()  # subagents launched in the background, not yet played
        self.notices: deque[str] = deque()  # reports that the main loop has not got yet
        self.sources: list[Path] = []  # files that SessionStart hooks wrote variables to
        self.prompt_id = self.ids.uuid()
        self.folder = job.config / "projects" / project_key(job.cwd)
        self.family = self.folder / job.session_id
        self.places = {"sandbox": str(job.sandbox), "cwd": str(job.cwd), "home": str(job.home)}
        self.places |= {f"plugin:{plugin.name}": str(plugin.root) for plugin in self.loaded.plugins}
        self.env = self._environment()
        self.stream = Stream(job.cell / "transcript.jsonl", self.ids)

    @property
    def transcript(self) -> Path:
        return self.folder / f"{self.job.session_id}.jsonl"

    def native(self, agent: Agent | None) -> Native:
        """The native file of the main loop or of a subagent."""
        if agent is None:
            return Native(self.transcript, self.ids, self.job.cwd)
        return Native(self.agent_file(agent), self.ids, self.job.cwd, agent.id)

    def agent_file(self, agent: Agent) -> Path:
        return self.family / "subagents" / f"agent-{agent.id}.jsonl"

    def kept(self, name: str) -> Path:
        """The file for an output that is too large for the model."""
        return self.family / "tool-results" / f"{name}.txt"

    def complain(self, text: str) -> None:
        """Say something on the agent's stderr, on one line."""
        with (self.job.cell / "stderr.txt").open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(" ".join(text.split()) + "\n")

    def check_time(self) -> None:
        if time.monotonic() >= self.until:
            raise Ending("timeout", f"the session ran longer than {self.job.limits.seconds:g} s")

    def selected(self, event: str, subject: str) -> list[Hook]:
        return [hook for hook in self.hooks if hook.event == event and hooks.matches(hook.matcher, subject)]

    def fire(self, event: str, subject: str, cwd: Path, agent: Agent | None = None, **payload: Any) -> list[Ran]:
        """Run the hooks of an event; `subject` is what matchers are held against (a tool, a source, an agent type)."""
        chosen = self.selected(event, subject)
        if not chosen:
            return []
        session_id = self.job.session_id
        body: dict[str, Any] = {"session_id": session_id, "transcript_path": str(self.transcript), "cwd": str(cwd)}
        if event != "SessionStart":
            body["prompt_id"] = self.prompt_id
        if event not in ("SessionStart", "SessionEnd", "SubagentStart"):
            body["permission_mode"] = MODE
        if agent:
            body |= {"agent_id": agent.id, "agent_type": agent.role.name}
        body |= {"hook_event_name": event, **payload}
        place = cwd if cwd.is_dir() else self.job.tmp  # the agent may have removed its own folder
        ran = hooks.run(chosen, body, self._hook_env, place, self.job.tmp, self.until)
        self.check_time()
        return ran

    def init(self) -> None:
        """The `system/init` event: what is loaded, under which model and mode."""
        loaded = self.loaded
        names = [skill.full for skill in loaded.skills]
        errors = [{"type": "path-not-found", "path": str(path)} for path in loaded.missing]
        self.stream.system(
            "init",
            cwd=str(self.job.cwd),
            tools=list(TOOLS),
            mcp_servers=[],
            model=MODEL,
            permissionMode=MODE,
            slash_commands=names,
            apiKeySource="none",
            claude_code_version=VERSION,
            output_style="default",
            agents=list(loaded.roles),
            skills=[skill.full for skill in loaded.skills if skill.folder],
            plugins=[plugin.init() for plugin in loaded.plugins],
            **({"plugin_errors": errors} if errors else {}),
            original_cwd=str(self.job.cwd),
            additional_directories=[],
            served_by_anthropic=False,
        )

    def bash_env(self) -> dict[str, str]:
        """The environment of the Bash tool: each plugin's `bin/` at the end of PATH, no CLAUDE_PLUGIN_ROOT."""
        bins = [str(plugin.root / "bin") for plugin in self.loaded.plugins if (plugin.root / "bin").is_dir()]
        path = {"PATH": os.pathsep.join([self.env["PATH"], *bins])} if "PATH" in self.env else {}
        mine = {"SHELL": "/bin/bash", "GIT_EDITOR": "true", "AI_AGENT": self._agent_name("agent")}
        return {**self.env, **path, **mine}

    def _environment(self) -> dict[str, str]:
        """What every process of the session sees: nothing of the user's but PATH and the locale."""
        job = self.job
        env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        env |= {"HOME": str(job.home), "TMPDIR": str(job.tmp), "CLAUDE_CONFIG_DIR": str(job.config)}
        env |= {"CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli", "CLAUDE_CODE_CHILD_SESSION": "1"}
        env |= {"CLAUDE_CODE_SESSION_ID": job.session_id}
        if not job.background:
            env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
        env |= job.env
        return {name: value for name, value in env.items() if name not in job.unset}

    def _hook_env(self, hook: Hook, place: int) -> dict[str, str]:
        env = {**self.env, "CLAUDE_PROJECT_DIR": str(self.job.cwd), "AI_AGENT": self._agent_name("harness")}
        if hook.event == "SessionStart":
            source = self.job.config / "session-env" / self.job.session_id / f"sessionstart-hook-{place}.sh"
            source.parent.mkdir(parents=True, exist_ok=True)
            self.sources.append(source)
            env["CLAUDE_ENV_FILE"] = str(source)
        if hook.plugin:
            env["CLAUDE_PLUGIN_ROOT"] = str(hook.plugin.root)
            data = self.job.config / "plugins" / "data" / f"{hook.plugin.name}-inline"
            data.mkdir(parents=True, exist_ok=True)
            env["CLAUDE_PLUGIN_DATA"] = str(data)
        return env

    @staticmethod
    def _agent_name(kind: str) -> str:
        return f"claude-code_{VERSION.replace('.', '-')}_{kind}"

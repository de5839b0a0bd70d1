"""A scratch project in which the real programs of os-adr are run."""

import atexit
import compileall
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[3] / "fixture" / "plugins" / "os-adr"
BODY = "## Context\n\nIt was needed.\n\n## Decision\n\nWe do it.\n\n## Consequences\n\nIt is done.\n"

# Importing the plugin's library must not leave caches in the plugin, whose files are digested by a run.
sys.dont_write_bytecode = True
sys.path.insert(0, str(PLUGIN / "lib"))


# The programs never write caches. A copy with its library compiled starts in two thirds of the time.
COPY = Path(tempfile.mkdtemp(prefix="os-adr-")) / "os-adr"
atexit.register(shutil.rmtree, COPY.parent, ignore_errors=True)
shutil.copytree(PLUGIN, COPY)
compileall.compile_dir(COPY / "lib", quiet=1)


class Project:
    """A folder with the programs at hand; `run` gives the finished process, `ok` its stdout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.adr = root / "docs" / "adr"

    def environment(self, **more: str) -> dict[str, str]:
        # This Python first: a version manager's python3 shim costs more than the program behind it.
        path = f"{COPY / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        git = {f"GIT_{who}_{what}": what.lower() for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return {**os.environ, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull, **git, **more}

    def run(
        self, *command: str, stdin: str = "", cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=cwd or self.root,
            env=self.environment(**env),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
        )

    def ok(self, *command: str, stdin: str = "", cwd: Path | None = None, **env: str) -> str:
        done = self.run(*command, stdin=stdin, cwd=cwd, **env)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def at_once(self, commands: list[list[str]], stdin: str) -> list[tuple[int, str, str]]:
        """Status, stdout and stderr of commands that all wait for their stdin and then get it together."""
        started = [
            subprocess.Popen(
                command,
                cwd=self.root,
                env=self.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
            )
            for command in commands
        ]
        for process in started:
            assert process.stdin
            process.stdin.write(stdin)
            process.stdin.flush()
        for process in started:
            assert process.stdin
            process.stdin.close()
            process.stdin = None
        printed = [process.communicate() for process in started]
        return [(process.returncode, *streams) for process, streams in zip(started, printed, strict=True)]

    def refused(self, *command: str, stdin: str = "", cwd: Path | None = None, **env: str) -> str:
        """The message of a command that exits 2, is one line, and changes nothing."""
        before = self.snapshot()
        done = self.run(*command, stdin=stdin, cwd=cwd, **env)
        assert (done.returncode, done.stdout) == (2, ""), (command, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr
        assert self.snapshot() == before
        return done.stderr

    def snapshot(self) -> dict[str, bytes | None]:
        """Every path of the project with its bytes, folders as None, without git's own."""
        return {
            str(path.relative_to(self.root)): None if path.is_dir() else path.read_bytes()
            for path in self.root.rglob("*")
            if ".git" not in path.relative_to(self.root).parts
        }

    def new(self, title: str, *options: str, status: str = "Accepted") -> Path:
        """A whole ADR made by adr-new."""
        made = self.ok(
            "adr-new", title, "--status", status, "--date", "2025-03-01", "--body", "-", *options, stdin=BODY
        )
        return self.root / made.strip()

    def breaches(self) -> list[str]:
        """What adr-check prints; its status must agree."""
        done = self.run("adr-check")
        lines = done.stdout.splitlines()
        assert done.returncode in (0, 1), done.stderr
        if done.returncode == 0:
            assert len(lines) == 1 and lines[0].endswith("no breach"), lines
            return []
        return lines

    def edit(self, path: Path, *changes: tuple[str, str]) -> None:
        """Change an ADR as a person would, and bring the index up to date."""
        text = path.read_bytes().decode()
        for old, new in changes:
            assert old in text, (old, text)
            text = text.replace(old, new, 1)
        path.write_bytes(text.encode())
        self.ok("adr-index")


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """0001 superseded by 0002, 0003 Accepted with a path, 0004 Proposed; made by the programs."""
    project = Project(tmp_path_factory.mktemp("pristine"))
    (project.root / "lib").mkdir()
    (project.root / "lib" / "clock.rb").write_text("UTC = true\n")
    project.ok("adr-init")
    project.new("Store local times", "--affects", "lib/clock.rb")
    project.ok("adr-supersede", "1", "Store UTC", "--date", "2025-04-01", "--body", "-", stdin=BODY)
    project.new("Use HTTP 2", "--affects", "lib/**/*.rb")
    project.new("Try gRPC", status="Proposed")
    return project.root


@pytest.fixture(scope="session")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What adr-init makes."""
    project = Project(tmp_path_factory.mktemp("skeleton"))
    project.ok("adr-init")
    return project.root


@pytest.fixture
def empty(tmp_path: Path, skeleton: Path) -> Project:
    """A project with a log and no ADR in it."""
    shutil.copytree(skeleton, tmp_path / "project")
    return Project(tmp_path / "project")


@pytest.fixture
def bare(tmp_path: Path) -> Project:
    """A project without a log."""
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project")


@pytest.fixture
def log(tmp_path: Path, pristine: Path) -> Project:
    """A copy of `pristine`."""
    shutil.copytree(pristine, tmp_path / "project")
    return Project(tmp_path / "project")


@pytest.fixture(scope="module")
def made_log(tmp_path_factory: pytest.TempPathFactory, pristine: Path) -> Project:
    """A copy of `pristine` that the tests of a module share."""
    root = tmp_path_factory.mktemp("shared") / "project"
    shutil.copytree(pristine, root)
    return Project(root)


@pytest.fixture
def plugin() -> Path:
    return PLUGIN


@pytest.fixture
def body() -> str:
    return BODY


@pytest.fixture
def front() -> Callable[[Path], str]:
    """The front matter of a file as text."""
    return lambda path: path.read_text(encoding="utf-8").split("---\n")[1]

"""What a sandbox holds: one read-only view over a folder and over a kept sandbox.tar.gz.

Regular files only; no symbolic link is followed, no device or pipe opened. Counts, sizes and depth are bounded: what is
beyond them is listed in `left_out` and never silently absent. `start.tsv` lists a
sandbox as the agent found it, and every "what changed" question is answered against it.
"""

import gzip
import io
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from heldout.errors import Fault, Refusal
from heldout.hashes import of_bytes

MAX_FILES = 50_000
MAX_FILE = 16 << 20  # bytes
MAX_TOTAL = 256 << 20  # bytes kept of one sandbox
MAX_DEPTH = 64  # folders within folders
UNREAD = -1  # the size of a folder in `left_out` that could not be looked into
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True)
class Entry:
    """One path of a listing: kind is file, dir, link or other; mode is octal text; sha256 of content or link target."""

    kind: str
    mode: str
    sha256: str


class Tree:
    """The files of a sandbox: `files` (path to size), `links` (to target), `left_out` (to size, or UNREAD)."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.links: dict[str, str] = {}
        self.left_out: dict[str, int] = {}

    def read(self, path: str) -> bytes:
        """The bytes of a regular file; KeyError when there is none."""
        raise NotImplementedError

    def below(self, folder: str) -> list[str]:
        """Paths of the regular files below a folder that can be read, sorted.

        Raises Fault when the folder is (below) a link, which may lead out of the sandbox and is neither followed nor
        guessed at, or when a folder in it could not be looked into.
        """
        for parent in (folder, *map(str, PurePosixPath(folder).parents)):
            if parent in self.links:
                told = f"'{parent}' is a symbolic link to '{self.links[parent]}'; it is not followed"
                raise Fault("sandbox-error", told)
        for path, size in self.left_out.items():
            if size == UNREAD and (path.startswith(f"{folder}/") or folder.startswith(path)):
                raise Fault("sandbox-error", f"cannot look into '{path}'")
        return sorted(path for path in self.files if path.startswith(f"{folder}/"))

    def text(self, path: str) -> str:
        """The file as text: UTF-8 with or without a BOM, undecodable bytes replaced."""
        return self.read(path).decode("utf-8-sig", "replace")


class FolderTree(Tree):
    """A sandbox that still lies on disk."""

    def __init__(self, root: Path, repository: str = "") -> None:
        """`repository` is the tree whose own `.git` is not content; every other `.git` is."""
        super().__init__()
        self.root = root
        self._budget = MAX_TOTAL
        self._skipped = f"{repository}/.git"
        self._scan()

    def _scan(self) -> None:
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
            except OSError:
                self.left_out[f"{folder}/"] = UNREAD
                continue
            for entry in entries:
                self._take(entry, f"{folder}/{entry.name}" if folder else entry.name, folders)

    def _take(self, entry: os.DirEntry[str], path: str, folders: list[str]) -> None:
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            self.links[path] = os.readlink(entry.path)
        elif stat.S_ISDIR(info.st_mode):
            if path.count("/") >= MAX_DEPTH:
                self.left_out[f"{path}/"] = UNREAD
            elif path != self._skipped:
                folders.append(path)
        elif stat.S_ISREG(info.st_mode):
            if len(self.files) >= MAX_FILES or info.st_size > min(MAX_FILE, self._budget):
                self.left_out[path] = info.st_size
            else:
                self.files[path] = info.st_size
                self._budget -= info.st_size

    def read(self, path: str) -> bytes:
        if path not in self.files:
            raise KeyError(path)
        # A folder on the way may have become a link since the scan: open one component at a time.
        where = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            *folders, name = path.split("/")
            for folder in folders:
                step = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=where)
                os.close(where)
                where = step
            with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=where), "rb") as stream:
                return stream.read(MAX_FILE + 1)[:MAX_FILE]
        except OSError as error:
            raise Fault("sandbox-error", f"cannot read '{path}': {error.strerror}") from error
        finally:
            os.close(where)


class KeptTree(Tree):
    """A sandbox kept as sandbox.tar.gz, with the links and left-out files that cell.json remembers."""

    def __init__(
        self, archive: Path, links: Mapping[str, str] | None = None, left_out: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        self.links, self.left_out = dict(links or {}), dict(left_out or {})
        self._content: dict[str, bytes] = {}
        try:
            with tarfile.open(archive, "r:gz") as tar:
                self._load(tar)
        except (OSError, tarfile.TarError, EOFError, ValueError) as error:
            raise Fault("sandbox-error", f"cannot read '{archive}': {error}") from error

    def _load(self, tar: tarfile.TarFile) -> None:
        budget = MAX_TOTAL
        for member in tar:
            if member.isreg():
                if len(self.files) >= MAX_FILES or member.size > min(MAX_FILE, budget):
                    self.left_out[member.name] = member.size
                    continue
                stream = tar.extractfile(member)
                self._content[member.name] = stream.read() if stream else b""
                self.files[member.name] = member.size
                budget -= member.size

    def read(self, path: str) -> bytes:
        return self._content[path]


def keep(tree: FolderTree, archive: Path) -> None:
    """Write the tree's regular files as a deterministic gzipped tar: the same files give the same bytes."""
    modes = {path: 0o755 if (tree.root / path).lstat().st_mode & 0o100 else 0o644 for path in tree.files}
    keep_files(archive, sorted(tree.files), tree.read, modes)


def keep_files(archive: Path, paths: Iterable[str], read: Callable[[str], bytes], modes: Mapping[str, int]) -> None:
    """Write files as a deterministic gzipped tar: no times, no owners, in the order given."""
    with (
        open(archive, "wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in paths:
            data = read(path)
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), modes.get(path, 0o644)
            tar.addfile(member, io.BytesIO(data))


def listing(root: Path, repository: str = "") -> dict[str, Entry]:
    """Every path below `root` but the `.git` of its tree `repository`: what start.tsv holds."""
    found: dict[str, Entry] = {}

    def visit(folder: str) -> None:
        for entry in sorted(os.scandir(root / folder), key=lambda item: item.name):
            path = f"{folder}/{entry.name}" if folder else entry.name
            mode = entry.stat(follow_symlinks=False).st_mode
            octal = f"{stat.S_IMODE(mode):04o}"
            if stat.S_ISLNK(mode):
                found[path] = Entry("link", octal, of_bytes(os.fsencode(os.readlink(entry.path))))
            elif stat.S_ISDIR(mode):
                if path != f"{repository}/.git":
                    found[path] = Entry("dir", octal, "-")
                    visit(path)
            elif stat.S_ISREG(mode):
                found[path] = Entry("file", octal, of_bytes(Path(entry.path).read_bytes()))
            else:
                found[path] = Entry("other", octal, "-")

    visit("")
    return found


def listing_text(entries: Mapping[str, Entry]) -> str:
    """start.tsv: path, kind, mode, sha256; tabs, newlines and backslashes of a path are escaped."""
    lines = (f"{_escape(path)}\t{item.kind}\t{item.mode}\t{item.sha256}\n" for path, item in sorted(entries.items()))
    return "path\tkind\tmode\tsha256\n" + "".join(lines)


def read_listing(path: Path) -> dict[str, Entry]:
    """Read start.tsv; raises Refusal naming file and line."""
    try:
        lines = path.read_text("utf-8", "surrogateescape").split("\n")
    except OSError as error:
        raise Refusal(f"cannot read '{path}': {error.strerror}") from error
    found: dict[str, Entry] = {}
    for number, line in enumerate(lines[1:-1], 2):
        cells = line.split("\t")
        if len(cells) != 4:
            raise Refusal(f"{path}:{number}: {len(cells)} columns where 4 are expected")
        found[_unescape(cells[0])] = Entry(*cells[1:])
    if lines[0] != "path\tkind\tmode\tsha256" or lines[-1]:
        raise Refusal(f"'{path}' is not a whole start.tsv")
    return found


def _escape(path: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in path)


def _unescape(text: str) -> str:
    parts = text.split("\\\\")
    for sign, letter in (("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r")):
        parts = [part.replace(sign, letter) for part in parts]
    return "\\".join(parts)

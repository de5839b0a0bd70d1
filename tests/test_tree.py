"""What a sandbox holds: regular files only, nothing followed, the same view over a folder and over its archive."""

import os
import socket
from pathlib import Path

import pytest
from heldout import tree
from heldout.errors import Fault
from hypothesis import given
from hypothesis import strategies as st

NAMES = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=12)


def _some_tree(root: Path) -> Path:
    (root / "vault" / "deep").mkdir(parents=True)
    (root / "vault" / "a.md").write_text("a")
    (root / "vault" / "deep" / "b.md").write_bytes(b"\xff\x00b")
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref")
    os.symlink("/etc", root / "vault" / "etc")
    os.symlink("a.md", root / "vault" / "alias.md")
    os.mkfifo(root / "vault" / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root)
        server.bind("s")
        os.chdir(here)
    return root


def test_folder_and_archive_give_one_view(tmp_path: Path) -> None:
    folder = tree.FolderTree(_some_tree(tmp_path / "t" / "in").parent, "in")
    tree.keep(folder, tmp_path / "kept.tar.gz")
    kept = tree.KeptTree(tmp_path / "kept.tar.gz", folder.links, folder.left_out)
    assert sorted(folder.files) == sorted(kept.files) == ["in/vault/a.md", "in/vault/deep/b.md"]
    assert folder.links == kept.links == {"in/vault/etc": "/etc", "in/vault/alias.md": "a.md"}
    assert all(folder.read(path) == kept.read(path) for path in folder.files)


def test_the_archive_is_deterministic(tmp_path: Path) -> None:
    for name in "ab":
        root = tmp_path / name
        (root / "d").mkdir(parents=True)
        for number in sorted(range(5), reverse=name == "b"):
            (root / "d" / str(number)).write_text(str(number))
        os.utime(root / "d" / "3", (1, 1 if name == "a" else 2))
        tree.keep(tree.FolderTree(root), tmp_path / f"{name}.tar.gz")
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()


def test_a_folder_that_became_a_link_is_a_fault_not_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    os.symlink("/etc", tmp_path / "t" / "vault")
    view = tree.FolderTree(tmp_path / "t")
    for folder in ("vault", "vault/journal"):
        with pytest.raises(Fault, match="'vault' is a symbolic link to '/etc'; it is not followed"):
            view.below(folder)


def test_a_folder_swapped_for_a_link_after_the_scan_is_not_followed(tmp_path: Path) -> None:
    view = tree.FolderTree(_some_tree(tmp_path / "t"))
    (tmp_path / "t" / "vault").rename(tmp_path / "aside")
    os.symlink(tmp_path / "aside", tmp_path / "t" / "vault")
    with pytest.raises(Fault, match=r"cannot read 'vault/a\.md'"):
        view.read("vault/a.md")


def test_what_is_too_large_or_too_deep_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_FILE", 3)
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "big.md").write_text("four")
    (tmp_path / "deep" / "/".join("d" * 80)).mkdir(parents=True)
    view = tree.FolderTree(tmp_path)
    assert view.left_out.pop("vault/big.md") == 4
    assert list(view.left_out.values()) == [tree.UNREAD]
    assert view.below("vault") == []
    with pytest.raises(Fault, match="cannot look into 'deep/d/d/"):
        view.below("deep")


@pytest.mark.parametrize("content", [b"", b"not a tar", b"\x1f\x8b\x08half"])
def test_a_broken_archive_is_a_fault(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.tar.gz").write_bytes(content)
    with pytest.raises(Fault, match="cannot read"):
        tree.KeptTree(tmp_path / "x.tar.gz")


@given(st.dictionaries(NAMES, st.sampled_from(("file", "dir", "link")), max_size=5))
def test_any_file_name_survives_start_tsv(names: dict[str, str]) -> None:
    import tempfile

    entries = {name: tree.Entry(kind, "0644", "0" * 64) for name, kind in names.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "start.tsv"
        path.write_text(tree.listing_text(entries), "utf-8", "surrogateescape", newline="")
        assert tree.read_listing(path) == entries

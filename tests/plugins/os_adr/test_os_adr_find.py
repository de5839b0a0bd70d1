"""adr-find: words, paths, status, and the two forms of its output."""

import pytest


def found(project, *arguments, cwd=None):
    rows = project.ok("adr-find", "--tsv", *arguments, cwd=cwd).splitlines()
    assert rows[0] == "id\tstatus\tdate\ttitle\tsuperseded-by\tfile\taffected-paths\tmatched"
    return [row.split("\t")[0] for row in rows[1:]]


@pytest.fixture(scope="module")
def corpus(made_log):
    """The pristine log and one ADR more, which governs a folder; the tests only read it."""
    (made_log.root / "lib" / "delivery").mkdir()
    sections = [
        "--context",
        "Catalogs of clients, by e-mail. Café.",
        "--decision",
        "日本語の文書",
        "--consequences",
        "A log.",
    ]
    made_log.ok("adr-new", "Deliver reports over SFTP", "--status", "Accepted", "--affects", "lib/delivery/", *sections)
    return made_log


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["UTC", "times"], ["0002", "0001"]),
        (["sto"], ["0002", "0001"]),
        (["atalog"], []),
        (["CAFÉ"], ["0005"]),
        (["文書"], ["0005"]),
        (["mail sftp"], ["0005"]),
        (["0003"], ["0003"]),
        (["c++", "("], []),
    ],
)
def test_words(corpus, words, ids):
    assert found(corpus, *words) == ids


@pytest.mark.parametrize(
    ("path", "ids"),
    [
        ("lib/clock.rb", ["0003", "0001"]),
        ("./lib//clock.rb", ["0003", "0001"]),
        ("lib", ["0003", "0005", "0001"]),
        ("lib/delivery/sftp.py", ["0005"]),
        ("lib/deliveryman.py", []),
    ],
)
def test_paths(corpus, path, ids):
    assert found(corpus, "--path", path) == ids


def test_paths_from_below_absolute_and_outside(corpus):
    (corpus.root / ".git").mkdir()
    below = corpus.root / "lib"
    assert found(corpus, "--path", "clock.rb", cwd=below) == ["0003", "0001"]
    assert found(corpus, "--path", "lib/clock.rb", cwd=below) == ["0003", "0001"]
    assert found(corpus, "--path", str(below / "clock.rb"), cwd=below) == ["0003", "0001"]
    assert "lies outside" in corpus.refused("adr-find", "--path", "../elsewhere")


def test_filters_narrow_each_other(corpus):
    assert found(corpus) == ["0002", "0003", "0005", "0001", "0004"]
    assert found(corpus, "--status", "superseded") == ["0001"]
    assert found(corpus, "--status", "Superseded", "--status", "proposed") == ["0001", "0004"]
    assert found(corpus, "--path", "lib/clock.rb", "--status", "Accepted") == ["0003"]
    assert found(corpus, "local", "--path", "lib/clock.rb") == ["0001"]
    assert "cannot use the status" in corpus.refused("adr-find", "--status", "open")


def test_columns_and_text(corpus):
    row = corpus.ok("adr-find", "--tsv", "local").splitlines()[1].split("\t")
    title = "Store local times"
    file = "docs/adr/0001-store-local-times.md"
    assert row == ["0001", "Superseded", "2025-03-01", title, "0002", file, "lib/clock.rb", "local"]
    text = corpus.ok("adr-find", "local")
    assert text.startswith(f"0001 [Superseded] {title} (2025-03-01)\n     {file}\n     superseded by: 0002\n")


def test_nothing_found_says_so_and_is_no_failure(corpus):
    done = corpus.run("adr-find", "zzz")
    assert (done.returncode, done.stdout) == (0, "") and "nothing found among 5 ADRs" in done.stderr


def test_finding_changes_nothing(corpus):
    before = corpus.snapshot()
    corpus.ok("adr-find", "utc", "--path", "lib")
    assert corpus.snapshot() == before


def test_a_literal_name_with_brackets_is_a_path(log):
    (log.root / "pages").mkdir()
    (log.root / "pages" / "[id].tsx").touch()
    log.new("Routes by id", "--affects", "pages/[id].tsx")
    assert found(log, "--path", "pages/[id].tsx") == ["0005"]
    assert log.breaches() == []


def test_a_closed_pipe_is_no_traceback(corpus):
    done = corpus.run("sh", "-c", "adr-find | head -n 1")
    assert done.stderr == "" and done.stdout.startswith("0002 ")

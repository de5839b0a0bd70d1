"""What a Bash command writes, read from its text."""

import subprocess
from pathlib import Path

import pytest
from heldout.checks.shell import commands, left_in
from heldout.checks.shellwrites import targets as all_targets
from heldout.checks.shellwrites import write_targets
from hypothesis import given
from hypothesis import strategies as st

HOME, CWD = "/h", "/w/p"
VARIABLES = {"HOME": HOME, "OS_VAULT_PATH": "/w/vault"}


@pytest.mark.parametrize(
    ("command", "targets"),
    [
        ("echo x > a.txt", ["/w/p/a.txt"]),
        ("echo x >>a.txt 2>/dev/null", ["/w/p/a.txt", "/dev/null"]),
        ("echo x >| 'a b.txt'", ["/w/p/a b.txt"]),
        ("make test 2>&1 | tee -a log.txt", ["/w/p/log.txt"]),
        ("cat > ~/notes/n.md <<'EOF'\necho > inside.txt\nEOF\ntouch after", ["/h/notes/n.md", "/w/p/after"]),
        ("cat <<-X > $HOME/n\n\ttext\n\tX\nrm gone", ["/h/n", "/w/p/gone"]),
        ('cat > "${OS_VAULT_PATH}/n.md"', ["/w/vault/n.md"]),
        ("V=~/Documents; echo x > $V/y", ["/h/Documents/y"]),
        ("export V=/v && cp a b $V", ["/v"]),
        ("cd sub && echo > here; cd ..; echo > there", ["/w/p/sub/here", "/w/p/there"]),
        ("(cd sub; mkdir -p x/y)", ["/w/p/sub/x/y"]),
        ("mv a.md b.md", ["/w/p/a.md", "/w/p/b.md"]),
        ("cp -t /dst a b", ["/dst"]),
        ("ln -s /target link", ["/w/p/link"]),
        ("sed -i 's/a/b/' f.txt", ["/w/p/s/a/b", "/w/p/f.txt"]),
        ("sed -n 's/a/b/p' f.txt", []),
        ("ls ~/Documents/SecondBrain && cat < in.txt", []),
        ("bash -c 'echo x > ~/y'", ["/h/y"]),
        ('bash -lc "cd /z && touch q"', ["/z/q"]),
        ("sudo -u me rm -rf /v/x", ["/v/x"]),
        ("env A=1 timeout 5 touch t", ["/w/p/t"]),
        ("echo $(touch inner) > out", ["/w/p/out", "/w/p/inner"]),
        ("echo `rm gone`", ["/w/p/gone"]),
        ("echo '> quoted' \"> quoted\" \\> escaped", []),
        ("if true; then touch a; fi", ["/w/p/a"]),
        ("for f in 1 2; do touch f$f; done", ["/w/p/f$f"]),
        ("eval 'touch e'", ["/w/p/e"]),
        ("dd if=a of=b", ["/w/p/b"]),
        ("# touch comment\ntrue", []),
        ("echo a#b > c", ["/w/p/c"]),
        ("${UNSET:-touch} x", ["/w/p/x"]),
        ("echo x &> both", ["/w/p/both"]),
        ("cat <<< 'here string' > o", ["/w/p/o"]),
        ("diff <(sort a) <(sort b) > d", ["/w/p/d"]),
        ("touch a\\\n b", ["/w/p/a", "/w/p/b"]),
        ("echo 3>f", ["/w/p/f"]),
        ("pushd /v; ls; popd; touch a", ["/w/p/a"]),
        ('cd /v; ls; cd "$OLDPWD"; touch a', ["/w/p/a"]),
        ("cd /v && cd - && touch a", ["/w/p/a"]),
        ("touch -r /v/n.md new", ["/w/p/new"]),
        ("perl -Ilib -ne print /v/n.md", []),
        ("perl -pi.bak -e s/a/b/ f", ["/w/p/f"]),
        ("sed -i.bak -e s/a/b/ f", ["/w/p/f"]),
        ("ln -s /v/n.md", ["/w/p/n.md"]),
        ("[[ a > /v/x && b < c ]] && touch t", ["/w/p/t"]),
        ("echo x | tee /v/{a,b}.md", ["/v/a.md", "/v/b.md"]),
        ("find . -name '*.md' -exec cp {} /v/ \\;", ["/v"]),
        ("git clone https://x/y.git /v/y", ["/v/y"]),
        ("git -C /v commit -m 'a > b'", ["/v"]),
        ("git -C /v log", []),
        ("sort -o /v/s f", ["/v/s"]),
        ("curl -s http://x -o/v/c", ["/v/c"]),
        ("tar xf a.tar -C /v", ["/v"]),
    ],
)
def test_targets(command: str, targets: list[str]) -> None:
    assert sorted(write_targets(command, CWD, VARIABLES)) == sorted(targets)


def test_what_may_or_may_not_be_written_is_not_sure() -> None:
    text = "python3 gen.py /v/x; cd /v || cd docs; touch a"
    found = {target.paths: target.sure for target in all_targets(text, CWD, VARIABLES)}
    assert found[("/v/x",)] is False
    assert ("/v/a", "/w/p/docs/a") in found, "in one of two folders"


@pytest.mark.parametrize(
    ("command", "folder"), [("cd lib; ls", "/w/p/lib"), ("(cd lib)", "/w/p"), ("cd; cd -", "/w/p")]
)
def test_where_a_command_leaves_the_shell(command: str, folder: str) -> None:
    assert left_in(command, CWD, VARIABLES) == folder


@pytest.mark.parametrize(
    "command",
    [
        "echo x > a; mkdir -p d/e && touch d/e/f; cp a d/g",
        "cat > 'q r' <<'E'\n$(touch no)\nE\nmv 'q r' s",
        "X=d; mkdir $X; (cd $X && echo 1 > one); echo 2 | tee two three >/dev/null",
        "bash -c 'touch deep; sh -c \"touch deeper\"'",
        'printf a > "sp ace"; ln -s a link; rm -f nothing',
        "for i in 1; do :; done; { touch grouped; }",
    ],
)
def test_what_bash_really_writes_is_among_the_targets(tmp_path: Path, command: str) -> None:
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=False, capture_output=True)
    written = {str(path) for path in tmp_path.rglob("*")}
    assert written
    claimed = set(write_targets(command, str(tmp_path), {"HOME": str(tmp_path)}))
    parents = {str(parent) for target in claimed for parent in Path(target).parents}
    assert written <= claimed | parents


@given(st.text(alphabet="ab \"'\\$(){}<>|&;`~=\n#-/01", max_size=60))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for simple in commands(text, CWD, VARIABLES):
        assert all(isinstance(word, str) for word in simple.words)

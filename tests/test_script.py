"""The script language of actors: what is read, what is refused and how, and what a stub of the API needs of it."""

import re
from pathlib import Path

import pytest
from heldout.agents import script
from heldout.agents.script import Call, Turn
from heldout.errors import Refusal
from hypothesis import given
from hypothesis import strategies as st

WHOLE = """\
compliant:
  default: true
  expect: {verdict: PASS, axes: "A:pass B:pass", reasons: "", info: {via: written}}
  judge: {vault-offer: {answer: yes, quote: "shall I note it"}}
  turns:
  - think: where is it
    text: I look.
    calls:
    - Read: {file_path: "{cwd}/lib/x.rb"}
    - Bash: {command: "git status --short", description: look}
    output: 120
  - calls:
    - Agent: {description: review queue, prompt: "Review src/queue.js", model: haiku, run_in_background: false}
      turns:
      - calls:
        - Task: {description: deeper, prompt: "Count in {cwd}"}
          turns:
          - text: seven
      - text: it is fine, says {model}
  - calls:
    - SendMessage: {to: "{agent:review queue}", message: go on, summary: more}
  - text: shall I note it?
never:
  turns:
  - text: done
dead:
  turns:
  - calls:
    - Bash: {command: sleep 1}
  ends: killed
gone:
  ends: empty
"""


def load(tmp_path: Path, text: str) -> dict[str, script.Actor]:
    path = tmp_path / "S1.yaml"
    path.write_text(text)
    return script.load(path)


def test_whole_language(tmp_path: Path) -> None:
    actors = load(tmp_path, WHOLE)
    assert list(actors) == ["compliant", "never", "dead", "gone"]
    actor = actors["compliant"]
    assert (actor.default, actor.ends, actors["never"].default, actors["dead"].ends) == (
        True,
        "completed",
        False,
        "killed",
    )
    assert actor.expect["info"] == {"via": "written"}
    assert actor.judge == {"vault-offer": {"answer": "yes", "quote": "shall I note it"}}
    first = actor.turns[0]
    assert (first.think, first.text) == ("where is it", "I look.")
    assert first.calls[0] == Call("Read", {"file_path": "{cwd}/lib/x.rb"})
    assert first.usage == {**script.INPUT, "output_tokens": 120}
    assert actors["never"].turns[0].usage["output_tokens"] == 1  # a quarter of the text's length
    assert [call.input["description"] for call in script.spawns(actor.turns)] == ["review queue", "deeper"]


def test_a_script_may_depart_from_the_scenarios_environment(tmp_path: Path) -> None:
    actor = load(tmp_path, 'a:\n  env: {SET: "1", GONE: null}\n  turns:\n  - text: x\n')["a"]
    assert actor.env == {"SET": "1", "GONE": None}


def test_scripted_usage_has_the_names_of_the_api(tmp_path: Path) -> None:
    actor = load(tmp_path, "a:\n  turns:\n  - text: x\n    usage: {input_tokens: 7, output_tokens: 9}\n")["a"]
    assert actor.turns[0].usage == {**script.INPUT, "input_tokens": 7, "output_tokens": 9}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n  turn:\n  - text: x\n", r":2: unknown key 'turn'; did you mean 'turns'\?"),
        ("a:\n  turns:\n  - txt: x\n", r":3: unknown key 'txt'; did you mean 'text'\?"),
        ("a:\n  turns:\n  - calls:\n    - Raed: {file_path: x}\n", r":4: unknown tool 'Raed'; did you mean 'Read'\?"),
        (
            "a:\n  turns:\n  - calls:\n    - Read: {file_paht: x}\n  - text: x\n",
            r":4: unknown Read parameter 'file_paht'; did you mean 'file_path'\?",
        ),
        ("a:\n  turns:\n  - calls:\n    - Read: {file_path: x}\n      Bash: {command: x}\n", "names exactly one tool"),
        (
            "a:\n  turns:\n  - calls:\n    - Read: {file_path: 2024-01-02}\n  - text: x\n",
            "'file_path' must be text, not date; quote it",
        ),
        (
            "a:\n  turns:\n  - calls:\n    - Read: {file_path: x}\n      turns: []\n  - text: x\n",
            "belong to a call of Agent",
        ),
        (
            "a:\n  turns:\n  - calls:\n    - Read: {file_path: x}\n",
            ":3: the last turn has calls; end with a turn of text",
        ),
        (
            "a:\n  turns:\n  - calls:\n    - Task: {prompt: p}\n      turns: [{calls: [Bash: {}]}]\n  - text: x\n",
            ":5: the last turn has calls",
        ),
        ("a:\n  turns:\n  - think: x\n", "a turn needs 'text' or 'calls'"),
        ("a:\n  turns:\n  - text: '  '\n", "a turn needs 'text' or 'calls'"),
        ("a:\n  turns: []\n", "actor 'a' has no turns"),
        ("a:\n  turns:\n  - text: 7\n", "'text' must be text, not a number; quote it"),
        (
            "a:\n  turns:\n  - calls:\n    - Write: {content: 5}\n",
            "'content' must be text, not a number; quote it",
        ),
        ("a:\n  turns:\n  - calls:\n    - Bash: {command: x, timeout: soon}\n", "'timeout' must be a number, not text"),
        ("a:\n  turns:\n  - text: x\n    output: many\n", "'output_tokens' must be a number of tokens, not 'many'"),
        ("a:\n  turns:\n  - text: x\n  ends: kiled\n", r":4: 'ends' is 'kiled'; did you mean 'killed'\?"),
        ("a:\n  turns:\n  - text: x\n  ends: killed\n", "its last turn has no calls"),
        ("a:\n  turns:\n  - text: x\n  default: maybe\n", "'default' must be yes/no, not text"),
        ("a:\n  turns:\n  - text: x\n  expect: {verdict: OK}\n", "verdict 'OK' is none"),
        ("a:\n  turns:\n  - text: x\n  expect: {axis: x}\n", r"unknown key 'axis'; did you mean 'axes'\?"),
        ("a:\n  turns:\n  - text: x\n  judge: {r: {answer: perhaps}}\n", "answer 'perhaps' is none"),
        ("a:\n  turns:\n  - text: x\na:\n  turns:\n  - text: y\n", ":4: key 'a' occurs twice"),
        (
            "a:\n  env: {X: 1}\n  turns:\n  - text: x\n",
            ":2: variable 'X' must be text, or null to remove it, not a number",
        ),
        ("a:\n  env: [X]\n  turns:\n  - text: x\n", ":2: 'env' must be a mapping, not a list"),
        ("a b:\n  turns:\n  - text: x\n", "actor name 'a b' must be"),
        (
            "a:\n  turns: [{text: x}]\nhaiku:\n  turns: [{text: x}]\n",
            ":3: actor name 'haiku' is an alias of lib/models.yaml",
        ),
        ("claude-opus-4-1:\n  turns: [{text: x}]\n", "actor name 'claude-opus-4-1' is read as the full id of a model"),
        ("trace:\n  turns: [{text: x}]\n", "actor name 'trace' is the model of saved traces; name it otherwise"),
        ("FAILS:\n  turns: [{text: x}]\n", "actor name 'FAILS' has '..' or one of PASS, FAIL, ERROR"),
        ("a:\n  turns: [{text: 'in {cdw}'}]\n", r":2: '\{cdw\}' in 'text' stands for nothing; did you mean 'cwd'\?"),
        (
            "a:\n  turns:\n  - calls:\n    - Read: {file_path: '{here}/x'}\n  - text: x\n",
            r":4: '\{here\}' in 'file_path' stands for nothing",
        ),
        (
            "a:\n  turns:\n  - calls:\n    - Bash: {command: 'ls {plugins:p}/x'}\n  - text: x\n",
            r":4: '\{plugins:p\}' in 'command' stands for nothing; did you mean 'plugin'\?",
        ),
        (
            "a:\n  turns:\n  - calls:\n    - Bash: {command: x}\n      fails: maybe\n  - text: x\n",
            "'fails' must be yes/no",
        ),
        ("- x\n", "must map names to actors, not a list"),
        ("a: [\n", ":2: not YAML"),
    ],
)
def test_refusals_name_the_place_and_the_near_miss(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(Refusal) as caught:
        load(tmp_path, text)
    assert re.search(message, str(caught.value)), str(caught.value)
    assert str(tmp_path / "S1.yaml") in str(caught.value)


SPAWN = "    - Agent: {{description: {0}, prompt: {1}}}\n      turns: [{{text: {0}}}]\n"


def test_braces_of_code_are_no_slips_of_a_placeholder(tmp_path: Path) -> None:
    command = "echo ${cdw} #{cdw} {a,b} $(awk '{print $1}')"
    write = "Write: {file_path: '{cwd}/x', content: 'f\"{mode}\"'}"
    turns = f"  turns:\n  - calls:\n    - Bash: {{command: \"{command}\"}}\n    - {write}\n  - text: 'a {{word}}'\n"
    assert len(load(tmp_path, f"a:\n{turns}")["a"].turns[0].calls) == 2


def test_two_spawns_with_one_prompt_are_refused(tmp_path: Path) -> None:
    head = "a:\n  turns:\n  - calls:\n"
    load(tmp_path, head + SPAWN.format("one", "p1") + SPAWN.format("two", "p2") + "  - text: x\n")
    with pytest.raises(Refusal, match="two subagents with one prompt"):
        load(tmp_path, head + SPAWN.format("one", "p") + SPAWN.format("two", "p") + "  - text: x\n")


def test_agent_placeholder_must_name_a_spawn(tmp_path: Path) -> None:
    call = "    - SendMessage: {to: '{agent:onn}', message: m}\n"
    with pytest.raises(Refusal, match=r"names no subagent; did you mean 'agent:one'\?"):
        load(tmp_path, "a:\n  turns:\n  - calls:\n" + SPAWN.format("one", "p") + call + "  - text: x\n")


def test_common_actors_and_a_missing_file(tmp_path: Path) -> None:
    assert list(script.load_for(tmp_path / "none.yaml")) == ["untouched", "empty"]
    path = tmp_path / "S1.yaml"
    path.write_text("empty:\n  turns:\n  - text: mine\n")
    actors = script.load_for(path)
    assert (actors["empty"].ends, actors["untouched"].ends) == ("completed", "completed")


PLACES = {"cwd": "/w", "sandbox": "/s", "home": "/h", "model": "m", "plugin:p": "/p", "agent:a b": "a1"}


def test_placeholders_are_replaced_at_any_depth() -> None:
    value = {"x": ["{cwd}/a {plugin:p}/b", {"y": "{agent:a b}"}], "n": 3}
    assert script.expand(value, PLACES) == {"x": ["/w/a /p/b", {"y": "a1"}], "n": 3}


def test_an_unknown_plugin_is_refused_and_other_braces_stay() -> None:
    text = "${HOME} {x} {cwd {{cwd}} f'{model!r}' {plugin:} awk '{print $1}'"
    assert script.expand(text, PLACES) == "${HOME} {x} {cwd {/w} f'{model!r}' {plugin:} awk '{print $1}'"
    with pytest.raises(Refusal, match=r"did you mean 'plugin:p'\?"):
        script.expand("{plugin:q}", PLACES)


@given(st.text(alphabet="{}acdehlmnopuwgisx: $", max_size=40))
def test_expansion_touches_nothing_but_placeholders(text: str) -> None:
    found = script.placeholders([Turn(text)])
    if not list(found):
        assert script.expand(text, {}) == text
    else:
        assert script.expand(text, dict.fromkeys(script.placeholders([Turn(text)]), "")).count("{") <= text.count("{")


def test_a_subagent_is_found_by_its_prompt_at_any_depth(tmp_path: Path) -> None:
    turns = load(tmp_path, WHOLE)["compliant"].turns
    outer = script.spawned(turns, "Review src/queue.js", {})
    assert outer is not None
    assert outer[-1].text == "it is fine, says {model}"
    assert script.spawned(turns, "Count in /w", {"cwd": "/w"}) == (
        Turn("seven", usage=outer[0].calls[0].turns[0].usage),
    )
    assert script.spawned(turns, "Count in {cwd}", {}) is None
    assert script.spawned(turns, "Review", {}) is None


def test_past_its_end_a_script_repeats_its_last_words() -> None:
    turns = (Turn("a", calls=(Call("Bash", {"command": "x"}),)), Turn("last words"))
    assert script.turn_at(turns, 0) is turns[0]
    again = script.turn_at(turns, 5)
    assert (again.text, again.calls) == ("last words", ())
    assert script.turn_at((), 0).text == "Done."

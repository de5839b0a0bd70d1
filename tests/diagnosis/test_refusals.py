"""What no trace is read from: a file that is none, a document with two values of one key, one without a bottom."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from heldout.checks import traces
from heldout.errors import Fault
from programs import bin, one_line
from tracing import FIXTURE, saved

SCHEMA = FIXTURE / "trace.schema.json"


def _refused(path: Path) -> Fault:
    with pytest.raises(Fault) as refused:
        traces.load(path, SCHEMA)
    return refused.value


@pytest.mark.parametrize("spelled", ["finalAnswer", "final\\u0041nswer"])
def test_a_key_that_stands_twice_is_refused_by_its_name(tmp_path: Path, spelled: str) -> None:
    text = json.dumps(saved("D3-slow-sql"))
    path = tmp_path / "D3.json"
    path.write_text(f'{{"{spelled}": "{{\\"claim_id\\": 1}}", {text[1:]}')
    assert str(_refused(path)) == f"unreadable-transcript: '{path}' is no trace: the key 'finalAnswer' stands twice"


def test_a_key_may_stand_in_two_objects_and_hold_a_long_number(tmp_path: Path) -> None:
    path = tmp_path / "D3.json"
    path.write_text(json.dumps(saved("D3-slow-sql"))[:-1] + f', "x": [{{"n": 0.{"9" * 5000}}}, {{"n": {"9" * 300}}}]}}')
    assert traces.load(path, SCHEMA)["traceId"]


@pytest.mark.parametrize("depth", [101, 990, 1020, 100_000])
@pytest.mark.parametrize("key", ["summaries", "unknown"])
def test_a_document_without_a_bottom_is_unreadable(tmp_path: Path, depth: int, key: str) -> None:
    trace = saved("D3-slow-sql")
    trace["selfEvaluation"]["verifier_evaluation"][key] = ["NEST"]
    nested = '{"a":' * depth + "1" + "}" * depth
    path = tmp_path / "D3.json"
    path.write_text(json.dumps(trace).replace('"NEST"', nested))
    assert _refused(path).code == "unreadable-transcript"
    assert bin("check", "D3", path, "--tsv", "trace").returncode == 2


def test_a_document_may_be_nested_as_documents_are(tmp_path: Path) -> None:
    trace: dict[str, Any] = saved("D3-slow-sql")
    trace["toolInvocations"][0]["arguments"] = json.loads('{"a":' * 60 + "1" + "}" * 60)
    path = tmp_path / "D3.json"
    path.write_text(json.dumps(trace))
    assert traces.load(path, SCHEMA) == trace


def test_only_a_regular_file_is_a_trace(tmp_path: Path) -> None:
    pipe = tmp_path / "D3-slow-sql.json"
    os.mkfifo(pipe)
    done = bin("check", "D3", pipe, "--tsv", "trace")
    assert done.returncode == 2 and "no-transcript" in done.stdout
    assert f"'{pipe}': it is no regular file" in one_line(done.stdout)
    done = bin("check", "--traces", tmp_path, "D3")
    assert "no-transcript" in done.stdout

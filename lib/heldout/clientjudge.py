"""The client as a judge: one isolated `claude -p` without tools, plugins, settings or a session of its own.

The answer is taken from the structured output of the result event, the model from the messages that were served.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from heldout import client
from heldout.errors import Fault, Refusal
from heldout.judgements import ANSWERS

MODEL = "haiku"
TIMEOUT = 180.0  # seconds one ask may take
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"enum": list(ANSWERS)}, "quote": {"type": "string"}},
    "required": ["answer", "quote"],
    "additionalProperties": False,
}
_PASSED = """
    PATH LANG ANTHROPIC_BASE_URL HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS
    CLAUDE_CODE_MAX_RETRIES API_TIMEOUT_MS
"""
_FIXED = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1"}


class ClientJudge:
    """Asks the client; `name` is the model that was served once there was an answer, before that the one asked for."""

    def __init__(self) -> None:
        self._program = client.find()
        if not client.credentials():
            raise Refusal("no credentials for the judge", f"set one of {', '.join(client.CREDENTIALS)}")
        self.name = f"claude:{MODEL}"

    def answer(self, prompt: str) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory(prefix="heldout-judge-") as scratch:
            done = self._run(prompt, Path(scratch))
        return self._told(done)

    def _run(self, prompt: str, scratch: Path) -> subprocess.CompletedProcess[bytes]:
        words = [
            str(self._program),
            "-p",
            "--model",
            MODEL,
            "--output-format",
            "stream-json",
            "--verbose",
            "--tools",
            "",
        ]
        words += ["--setting-sources", "", "--strict-mcp-config", "--no-session-persistence"]
        words += ["--json-schema", orjson.dumps(SCHEMA).decode()]
        env = {name: os.environ[name] for name in (*_PASSED.split(), *client.credentials()) if name in os.environ}
        for name, folder in (("HOME", "home"), ("CLAUDE_CONFIG_DIR", "config"), ("TMPDIR", "tmp"), ("", "work")):
            (scratch / folder).mkdir()
            env |= {name: str(scratch / folder)} if name else {}
        try:
            return subprocess.run(
                words,
                cwd=scratch / "work",
                env=env | _FIXED,
                input=prompt.encode(),
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Fault("judge-error", f"the judge took over {TIMEOUT:g} s") from None

    def _told(self, done: subprocess.CompletedProcess[bytes]) -> Mapping[str, Any]:
        said: Mapping[str, Any] = {}
        for line in done.stdout.splitlines():
            try:
                event = cast(dict[str, Any], orjson.loads(line))
            except ValueError:
                continue
            if event.get("type") == "assistant" and event["message"].get("model") != "<synthetic>":
                self.name = event["message"]["model"]
            elif event.get("type") == "result":
                if event.get("is_error") or "structured_output" not in event:
                    raise Fault(
                        "judge-error", f"the judge failed: {event.get('terminal_reason') or event.get('subtype')}"
                    )
                said = event["structured_output"]
        if not said:
            raise Fault("judge-error", f"the judge ended with {done.returncode} and no answer")
        return said

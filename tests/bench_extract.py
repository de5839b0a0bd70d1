"""What bin/extract costs beside `wc -l`, `jq -c .` and a json.loads loop: `python tests/bench_extract.py [MB ...]`.

Transcripts of 10 MB, 100 MB and 1 GB are made in a temporary folder, line by line as the pinned client writes them: one
line a content block with the usage on each, every result as the model got it, as toolUseResult and once more in an
api-request-blob, an api-request and a reminder a turn, an image now and then. Sizes follow public sessions: results
have a median of 0.8 and a mean of 3 KB. The largest file has one line of 100 MB. Every run's answer is compared with
what the generator wrote before its time counts.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson

ROOT = Path(__file__).resolve().parent.parent
LONG_LINE = 100_000_000
SESSION = "11111111-2222-4333-8444-555555555555"
LOOP = "import json,sys\nfor line in open(sys.argv[1],'rb'):\n    json.loads(line)"
PROSE = (
    "the request handler returns early when a token has expired because queue worker config value is None and "
    "self.path = os.path.join(root, name) if not name else default; def main(argv): for item in items: yield item "
    '-> retry 429 logger.info("started", extra={"id": id}) const response = await fetch(url) // todo error: token'
)
SIZES = (100, 300, 800, 2_000, 5_000, 10_000, 25_000, 60_000)  # characters of a text
RESULTS = (15, 20, 20, 20, 12, 8, 4, 1)  # how often a tool's result has each size
SMALL = (40, 40, 15, 5, 0, 0, 0, 0)  # the same for thoughts and answers
COMMANDS = (80, 20, 0, 0, 0, 0, 0, 0)
KINDS = 6  # texts of each size, one of them not ASCII
USAGE = (
    '"output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},'
    '"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},'
    '"inference_geo":"","iterations":[],"speed":"standard","fallback_credit":null'
)
ENVELOPE = (
    f'"userType":"external","entrypoint":"sdk-cli","cwd":"/home/dev/project","sessionId":"{SESSION}",'
    '"version":"2.1.332","gitBranch":"main"'
)
REQUEST = (
    '"version":"2.1.332","querySource":"sdk","params":{"model":"claude-opus-5-5","betas":["claude-code-20250219",'
    '"interleaved-thinking-2025-05-14","context-management-2025-06-27"],"max_tokens":32000,"thinking":{"budget_tokens":'
    '31999,"type":"enabled"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}},"thread":'
    '{"type":"none"},"echoWireToolInputs":false,"keep":1,"cacheControl":[{"path":["system",0],"value":{"type":"ephemeral"'
    '}},{"path":["system",1],"value":{"type":"ephemeral"}},{"path":["messages",2],"value":{"type":"ephemeral"}}]'
)
DECISION = '"permissionDecision":{"decision":"accept","source":"config","reasonType":"mode"},'


class Writer:
    """Writes turns of a session and keeps count of what a reader must find."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = PROSE.split()
        self.texts = [[self._text(size, i) for i in range(KINDS)] for size in SIZES]
        self.image = "iVBORw0KGgo" + f"{self.random.getrandbits(1_600_000):x}"
        self.parent = "null"
        self.number = 0
        self.expected = {"input": 0, "cache_creation": 0, "cache_read": 0, "output": 0, "actions": 0, "bytes_read": 0}

    def _text(self, size: int, kind: int) -> tuple[str, str, int]:
        """A text as a JSON literal, the same numbered as Read prints it, and the UTF-8 bytes of the latter."""
        rows: list[str] = []
        left = size
        while left > 0:
            words = self.random.choices(self.words, k=self.random.randrange(2, 11))
            row = "    " * self.random.randrange(4) + " ".join(words)
            rows.append(row[:left])
            left -= len(row) + 1
        if kind == 0:
            rows[0] = "— Ünïcode ✅ " + rows[0]
        numbered = "\n".join(f"{i}\t{row}" for i, row in enumerate(rows, 1))
        plain = "\n".join(rows)
        return json.dumps(plain, ensure_ascii=False), json.dumps(numbered, ensure_ascii=False), len(numbered.encode())

    def pick(self, weights: tuple[int, ...]) -> tuple[str, str, int]:
        return self.random.choice(self.random.choices(self.texts, weights)[0])

    def uuid(self) -> str:
        self.number += 1
        return f"{self.random.getrandbits(64):016x}-4222-8333-{self.number:016x}"

    def line(self, body: str, tail: str = "") -> str:
        """A line with the client's envelope around a body; `tail` stands where toolUseResult does."""
        uuid = f'"{self.uuid()}"'
        time = f"2026-11-30T04:{self.number // 60 % 60:02}:{self.number % 60:02}.123Z"
        head = f'"parentUuid":{self.parent},"isSidechain":false,{body},"uuid":{uuid},"timestamp":"{time}"'
        self.parent = uuid
        return f"{{{head},{tail}{ENVELOPE}}}\n"

    def assistant(self, id: str, block: str, usage: str) -> str:
        return self.line(
            f'"message":{{"id":"{id}","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],'
            f'"stop_reason":"tool_use","stop_sequence":null,"usage":{usage},"stop_details":null}},"apiBlockIndex":0,'
            f'"requestId":"req_{id[4:]}","requestRef":"{self.uuid()}","requestedModel":"claude-opus-5-5",'
            '"promptCacheRequested":"5m","type":"assistant"'
        )

    def usage(self) -> str:
        counts = {
            "input": self.random.randrange(1, 12),
            "cache_creation": self.random.randrange(100, 9_000),
            "cache_read": self.random.randrange(20_000, 160_000),
            "output": self.random.randrange(60, 1_500),
        }
        for name, count in counts.items():
            self.expected[name] += count
        return (
            f'{{"input_tokens":{counts["input"]},"cache_creation_input_tokens":{counts["cache_creation"]},'
            f'"cache_read_input_tokens":{counts["cache_read"]},"output_tokens":{counts["output"]},{USAGE}}}'
        )

    def turn(self) -> str:
        """One answer of the model: a line per block, then the results of its calls, then what surrounds them."""
        id = f"msg_01{self.random.getrandbits(88):022x}"
        usage = self.usage()
        signature = f"{self.random.getrandbits(3_600):0900x}"
        thinking = f'{{"type":"thinking","thinking":{self.pick(SMALL)[0]},"signature":"{signature}"}}'
        out = [self.assistant(id, thinking, usage)]
        if self.random.random() < 0.5:
            out.append(self.assistant(id, f'{{"type":"text","text":{self.pick(SMALL)[0]}}}', usage))
        calls = [self.call() for _ in range(1 if self.random.random() < 0.8 else 2)]
        out += [self.assistant(id, block, usage) for block, _ in calls]
        for _, content in calls:
            out += self.answered(content)
        reminder = "<total_tokens>14994789 tokens left</total_tokens>"
        rendered = f'[{{"content":"<system-reminder>{reminder}</system-reminder>"}}]'
        attachment = f'"attachment":{{"type":"total_tokens_reminder","text":"{reminder}"}},"type":"attachment"'
        out.append(self.line(attachment, f'"rendered":{rendered},"renderedRole":"system",'))
        hashes = f'"base":"{self.uuid()}","tail":["{self.random.getrandbits(256):064x}"]'
        out.append(f'{{"type":"api-request","sessionId":"{SESSION}","id":"{self.uuid()}",{REQUEST},{hashes}}}\n')
        return "".join([*out, *self.noise()])

    def call(self) -> tuple[str, tuple[str, str]]:
        """A tool_use block, and its result as the model gets it and as toolUseResult."""
        id = f"toolu_01{self.random.getrandbits(88):022x}"
        self.expected["actions"] += 1
        kind = self.random.random()
        path = f"/home/dev/project/src/part{self.random.randrange(40)}/file{self.random.randrange(30)}.ts"
        plain, shown, size = self.pick(RESULTS)
        if kind < 0.003:
            block = f'"Read","input":{{"file_path":"{path}.png"}}'
            shown = f'[{{"type":"image","source":{{"type":"base64","data":"{self.image}","media_type":"image/png"}}}}]'
            extra = f'{{"type":"image","file":{{"base64":"{self.image}","type":"image/png","originalSize":200000}}}}'
        elif kind < 0.35:
            block = f'"Read","input":{{"file_path":"{path}"}}'
            extra = f'{{"type":"text","file":{{"filePath":"{path}","content":{plain},"numLines":80,"totalLines":80}}}}'
            self.expected["bytes_read"] += size
        elif kind < 0.75:
            block = f'"Bash","input":{{"command":{self.pick(COMMANDS)[0]},"description":"look at it"}}'
            extra = f'{{"stdout":{shown},"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}'
            self.expected["bytes_read"] += size
        else:
            old, new = self.pick(SMALL)[0], self.pick(SMALL)[0]
            block = f'"Edit","input":{{"replace_all":false,"file_path":"{path}","old_string":{old},"new_string":{new}}}'
            patch = f'[{{"oldStart":1,"oldLines":6,"newStart":1,"newLines":7,"lines":[{old},{new}]}}]'
            strings = f'"oldString":{old},"newString":{new},"originalFile":{plain}'
            extra = f'{{"filePath":"{path}",{strings},"structuredPatch":{patch}}}'
            shown = json.dumps(f"The file {path} has been updated successfully.")
        content = f'[{{"tool_use_id":"{id}","type":"tool_result","content":{shown}}}]'
        return f'{{"type":"tool_use","id":"{id}","name":{block},"caller":{{"type":"direct"}}}}', (content, extra)

    def answered(self, result: tuple[str, str]) -> Iterator[str]:
        content, extra = result
        yield self.line(
            f'"promptId":"{SESSION}","type":"user","message":{{"role":"user","content":{content}}}',
            f'"toolUseResult":{extra},"sandboxed":false,"sourceToolAssistantUUID":{self.parent},{DECISION}',
        )
        blob = f'"hash":"{self.random.getrandbits(256):064x}","message":{{"role":"user","content":{content}}}'
        yield f'{{"type":"api-request-blob","sessionId":"{SESSION}",{blob}}}\n'

    def noise(self) -> Iterator[str]:
        """What stands between the turns now and then."""
        chance = self.random.random
        if chance() < 0.3:
            yield f'{{"type":"last-prompt","lastPrompt":"go on","leafUuid":{self.parent},"sessionId":"{SESSION}"}}\n'
            yield f'{{"type":"atis-latch","atis":"","sessionId":"{SESSION}"}}\n'
        if chance() < 0.05:
            yield self.line(f'"type":"user","message":{{"role":"user","content":{self.pick(SMALL)[0]}}}')
        if chance() < 0.04:
            file = f'{{"type":"file","filename":"a.ts","content":{self.pick(RESULTS)[0]}}}'
            yield self.line(f'"attachment":{file},"type":"attachment"')


def make(path: Path, size: int, long_line: int = 0, seed: int = 1) -> dict[str, int]:
    """Write a transcript of about `size` bytes; returns what a reader must find in it."""
    writer = Writer(seed)
    with path.open("wb") as file:
        file.write(writer.line('"type":"user","message":{"role":"user","content":"go on"}').encode())
        while file.tell() < (size - long_line) // 2:
            file.write(writer.turn().encode())
        if long_line:
            _long_line(file, writer, long_line)
        while file.tell() < size:
            file.write(writer.turn().encode())
    return writer.expected


def _long_line(file: BinaryIO, writer: Writer, size: int) -> None:
    head, tail = writer.line('"type":"user","message":{"role":"user","content":"LONG"}').split("LONG")
    file.write(head.encode())
    for _ in range(size >> 20):
        file.write(b"0123456789abcdef" * (1 << 16))
    file.write(tail.encode())


def timed(command: list[str], output: Path | None = None) -> tuple[float, float]:
    """Wall seconds and peak MB of a command."""
    with (output or Path(os.devnull)).open("wb") as sink:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=sink)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench_extract: {command[0]} ended with {process.returncode}")
    return wall, usage.ru_maxrss / 1024


def verify(output: Path, expected: dict[str, int]) -> None:
    facts: dict[str, Any] = orjson.loads(output.read_bytes())
    found = {
        **facts["tokens"]["main"],
        "actions": facts["counts"]["actions"],
        "bytes_read": facts["bytes_read"]["main"],
    }
    if found != expected:
        sys.exit(f"bench_extract: bin/extract found {found}, the generator wrote {expected}")


def compare(folder: Path, megabytes: int) -> None:
    path, output = folder / f"{megabytes}.jsonl", folder / "facts.json"
    big = megabytes >= 1_000
    expected = make(path, megabytes * 1_000_000, LONG_LINE if big else 0)
    size = path.stat().st_size / 1e6
    extract = [str(ROOT / "bin/extract"), str(path)]
    ways = {
        "wc -l": (["wc", "-l", str(path)], 5),
        "jq -c .": (["jq", "-c", ".", str(path)], 1),
        "json.loads loop": ([sys.executable, "-c", LOOP, str(path)], 1 if big else 3),
        "bin/extract": (extract, 3),
    }
    print(f"\n{size:.0f} MB, {expected['actions']} calls{', one line of 100 MB' if big else ''}")
    print(f"{'':18}{'s':>8}{'MB/s':>8}{'x wc -l':>9}{'peak MB':>9}")
    base = 0.0
    for name, (command, times) in ways.items():
        if shutil.which(command[0]) is None:
            print(f"{name:18}{'not installed':>16}")
            continue
        best, peak = min(timed(command, output if command is extract else None) for _ in range(times))
        if command is extract:
            verify(output, expected)
        base = base or best
        print(f"{name:18}{best:8.2f}{size / best:8.0f}{best / base:9.1f}{peak:9.0f}", flush=True)
    path.unlink()


def cells(folder: Path, count: int = 1_000) -> None:
    """One process over many small cells, as a re-scoring does."""
    from heldout.transcript.reader import extract

    expected = make(folder / "cell.jsonl", 40_000)
    stream = (
        b'{"type":"system","subtype":"init","session_id":"%b","model":"claude-opus-5"}\n'
        b'{"type":"result","subtype":"success","is_error":false,"usage":{},"modelUsage":{}}\n'
    ) % SESSION.encode()
    for i in range(count):
        cell = folder / f"cell{i}"
        (cell / "session").mkdir(parents=True)
        shutil.copy(folder / "cell.jsonl", cell / "session" / f"{SESSION}.jsonl")
        (cell / "transcript.jsonl").write_bytes(stream)
    start = time.perf_counter()
    for i in range(count):
        if extract(folder / f"cell{i}")["counts"]["actions"] != expected["actions"]:
            sys.exit("bench_extract: a cell gave another number of actions")
    print(f"\n{count} cells of 40 KB in one process: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="bin/extract beside wc -l, jq -c . and a json.loads loop")
    parser.add_argument("megabytes", nargs="*", type=int, default=[10, 100, 1_000])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heldout-bench-") as name:
        for megabytes in arguments.megabytes:
            compare(Path(name), megabytes)
        cells(Path(name))

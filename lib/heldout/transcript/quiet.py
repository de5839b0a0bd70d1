"""Lines of native transcripts that carry nothing for the facts, told by their first bytes without parsing them.

The test is sound, not complete: a line is passed over only if its first `"type":"…"` stands at depth one (or is that of
`"attachment":{`) and names a kind known to be empty, the line is ended, and no second record hides on it. Quotes inside
JSON strings are escaped, so these byte patterns can only be structure. Everything else is parsed.
"""

# No uuid: these cannot be part of the chain from a hook to the first action.
_LOOSE = frozenset(
    b"file-history-snapshot file-history-delta summary last-prompt ai-title agent-name custom-title mode "
    b"bridge-session pr-link atis-latch tools-used api-request api-request-blob api-request-shape "
    b"fork-context-ref".split()
)
_ATTACHMENTS = frozenset(
    b"environment model deferred_tools_delta deferred_tools_record agent_listing_delta skill_listing session_context "
    b"total_tokens_reminder date remote_session_change prompt_snapshot command_permissions task_reminder todo_reminder "
    b"auto_mode silent_turn_reminder instructions file mcp_instructions_delta structured_output plan_mode "
    b"compact_file_reference selected_lines_in_ide nested_memory read_truncation_notice".split()
)
_PROGRESS = frozenset(b"bash_progress mcp_progress query_update search_results_received waiting_for_task".split())
NEAR = 1_024  # bytes in which the first type of a quiet line stands


_THINKS = (
    b'"role":"assistant","content":[{"type":"thinking"',
    b'"role":"assistant","content":[{"type":"redacted_thinking"',
)


def quiet(line: bytes, at: int, started: bool, known: set[bytes]) -> bool:
    """Whether a line may be passed over. `at`: where its first `"type":"` stands.

    `started`: the first action of its file was read; `known`: call ids whose agent's model is known, so that further
    copies of the agent's messages tell nothing new (trap 6d).
    """
    start = at + 8
    kind = line[start : line.find(b'"', start, start + 40)]
    brace = line.find(b"{", 1, at)
    if brace < 0:
        if kind == b"progress":
            if not started or not _quiet_progress(line, start, known):
                return False
        elif kind == b"queue-operation":
            if b"-notification>" in line:
                return False
        elif kind not in _LOOSE:
            return False
    elif started and brace == at - 1 and line[at - 14 : at] == b'"attachment":{':
        if kind == b"queued_command":
            if b"-notification>" in line:
                return False
        elif kind not in _ATTACHMENTS:
            return False
    else:
        return False
    return line.endswith(b"}\n") and not hides_record(line, start)


def thought(line: bytes, at: int) -> bytes:
    """The message id of an assistant line that holds one thinking block and nothing else; empty for other lines.

    `at`: where `"type":"message"` stands, right after the id and right before the role.
    """
    if not line.startswith(_THINKS, at + 17) or line[at - 2 : at] != b'",':
        return b""
    begin = line.rfind(b'"id":"', max(0, at - 300), at)
    # A second block or another record on the line would begin in one of these ways.
    alone = line.rfind(b'{"type":"') < at + 60 and line.endswith(b"}\n") and not hides_record(line, at)
    return line[begin + 6 : at - 2] if begin > 0 and alone else b""


def hides_record(line: bytes, start: int) -> bool:
    """Whether a record that matters follows one that was cut off or not ended by a newline (report 28, trap 18)."""
    return line.find(b'{"parentUuid":', start) >= 0


def _quiet_progress(line: bytes, start: int, known: set[bytes]) -> bool:
    data = line.find(b'"data":{"', start, start + 60)
    if data < 0:
        return False
    if line.startswith(b'type":"', data + 9):
        kind = line[data + 16 : line.find(b'"', data + 16, data + 60)]
        return kind in _PROGRESS
    at = line.rfind(b'"parentToolUseID":"')
    return at > 0 and line[at + 19 : line.find(b'"', at + 19, at + 140)] in known

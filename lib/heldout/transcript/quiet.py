"""Lines of native transcripts that carry nothing for the facts once the first action of their file was read."""

from heldout.transcript.messages import Line

LINES = frozenset(
    "file-history-snapshot file-history-delta summary last-prompt ai-title agent-name custom-title mode bridge-session "
    "pr-link atis-latch tools-used api-request api-request-blob api-request-shape fork-context-ref".split()
)
_ATTACHMENTS = frozenset(
    "environment model deferred_tools_delta deferred_tools_record agent_listing_delta skill_listing session_context "
    "total_tokens_reminder date remote_session_change prompt_snapshot command_permissions task_reminder todo_reminder "
    "auto_mode silent_turn_reminder instructions file mcp_instructions_delta structured_output plan_mode "
    "compact_file_reference selected_lines_in_ide nested_memory read_truncation_notice".split()
)
_PROGRESS = frozenset("bash_progress mcp_progress query_update search_results_received waiting_for_task".split())


def quiet(line: Line, known: set[str]) -> bool:
    """Whether a line tells nothing.

    `known`: call ids whose agent's model is known, so that further copies of the agent's messages tell nothing new
    (trap 6d).
    """
    if line.type == "attachment":
        return line.attachment is not None and line.attachment.type in _ATTACHMENTS
    if line.type == "progress" and line.data is not None:
        kind = line.data.type
        return kind in _PROGRESS or (kind == "agent_progress" and line.parentToolUseID in known)
    return line.type in LINES

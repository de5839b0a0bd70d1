"""What came of one tool call: the text for the model, the result for the transcript, and who let it through."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """The result of a tool call.

    content  what the model receives: text, or a list of content blocks
    result   `toolUseResult`: an object, or for a failure the text after `Error: `
    error    whether the call failed
    reached  whether it got past the checks of its input, and so has a permission decision
    denial   why it was not carried out: `permission-rule`, `user-rejected` (nobody to ask); empty when it was
    source   who decided: `config`, `hook`
    flag     whether a success says `is_error: false`
    notes    texts that are put into the conversation after it, as a skill's body is
    """

    content: Any
    result: Any
    error: bool = False
    reached: bool = True
    denial: str = ""
    source: str = "config"
    flag: bool = False
    notes: list[str] = field(default_factory=list)

    @staticmethod
    def failed(message: str, *, denial: str = "", source: str = "config") -> "Outcome":
        """A call that was tried, or denied, and failed."""
        return Outcome(message, f"Error: {message}", error=True, denial=denial, source=source)

    @staticmethod
    def refused(message: str, result: str = "") -> "Outcome":
        """A call whose input did not pass the checks."""
        content = f"<tool_use_error>{message}</tool_use_error>"
        return Outcome(content, result or f"Error: {message}", error=True, reached=False)

    def block(self, tool_use_id: str) -> dict[str, Any]:
        """The `tool_result` content block."""
        block = {"tool_use_id": tool_use_id, "type": "tool_result", "content": self.content}
        return {**block, "is_error": self.error} if self.error or self.flag else block

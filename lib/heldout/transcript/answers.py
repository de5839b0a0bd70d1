"""What the main loop said: every visible text in order, and the text of its last message however it ended."""

from typing import Any

from heldout.transcript.bounds import TEXTS


class Answers:
    """Texts of the main loop. A block that a doubled line or a resumed session writes again is one block (trap 18)."""

    def __init__(self) -> None:
        self.visible: list[str] = []
        self.omitted = 0
        self.last_message: str | int | None = None
        self._last_texts: list[str] = []
        self._seen: set[int] = set()
        self._room = TEXTS

    def begin(self, message: str | int) -> None:
        """A message begins that was not seen before: from now on it is the last one."""
        self.last_message = message
        self._last_texts = []

    def text(self, message: str | int, text: str) -> None:
        block = hash((message, text))
        if block in self._seen:
            return
        self._seen.add(block)
        if message == self.last_message:
            self._last_texts.append(text)
        if len(text) <= self._room:
            self._room -= len(text)
            self.visible.append(text)
        else:
            self.omitted += 1

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {"final_message": "\n".join(self._last_texts), "visible_text": self.visible}
        if self.omitted:
            found["visible_text_omitted"] = self.omitted
        return found

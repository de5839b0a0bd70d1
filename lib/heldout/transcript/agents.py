"""Who speaks: the main loop and its subagents, as small numbers while reading and by name in the facts."""

from heldout.transcript.bounds import SEEN

MAIN = 0


class Agents:
    """Numbers of agents in the order in which they were met; `models[n]` are the models that answered agent n."""

    def __init__(self) -> None:
        self.names: list[str] = ["main"]
        self.models: list[list[str]] = [[]]
        self.latest: list[str | None] = [None]  # the model that answered an agent last
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of the subagent of this name; `main` as a subagent's name is another agent than the main loop."""
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
            self.models.append([])
            self.latest.append(None)
        return found

    def find(self, name: str | None) -> int | None:
        return self._numbers.get(name) if name else None

    def rename(self, old: str, new: str) -> None:
        """Call an agent by its id once that is known; until then its spawn's call id stood in for it."""
        number = self._numbers.get(old)
        if number is not None and new not in self._numbers:
            self._numbers[new] = number
            self.names[number] = new

    def served(self, agent: int, model: str) -> None:
        self.latest[agent] = model
        known = self.models[agent]
        if model not in known and len(known) < SEEN:
            known.append(model)

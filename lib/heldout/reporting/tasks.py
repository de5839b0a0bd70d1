"""The Tasks of a report's scenarios: what a page must not show, and of which cells it knows that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from heldout import prompts, scenario
from heldout.errors import Refusal
from heldout.hashes import of_bytes
from heldout.hiding import Hider


@dataclass(frozen=True)
class Tasks:
    """`digests` by (suite, scenario), as a cell's record has them; `sets` says whether run-set or reserve."""

    hide: Hider
    digests: Mapping[tuple[str, str], str]
    sets: Mapping[tuple[str, str], str]

    def why_unknown(self, suite: str, name: str, digest: str | None) -> str:
        """Why texts of a session cannot be shown: without its Task, what they quote of it cannot be found. Or ''."""
        if (suite, name) not in self.digests:
            return "the scenario's file is not here or cannot be read"
        if digest != self.digests[suite, name]:
            return "the scenario's Task is not the one that this cell was run with"
        return ""


def of_scenarios(names: Iterable[str]) -> Tasks:
    """The Tasks of all scenarios of these names, in every suite and set."""
    wanted, texts = set(names), list[str]()
    digests, sets = dict[tuple[str, str], str](), dict[tuple[str, str], str]()
    for path in scenario.files():
        if path.stem not in wanted:
            continue
        try:
            item = scenario.load(path)
        except Refusal:
            continue
        texts.append(item.task)
        digests[item.suite, item.id] = of_bytes(prompts.source(item).encode())
        sets[item.suite, item.id] = item.set
    return Tasks(Hider(texts), digests, sets)

"""What a CI service is told beside the output: the job's summary on GitHub."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MOST = 900_000  # bytes of a summary; GitHub drops the whole of one that is over 1 MiB


def step_summary(made: Callable[[], str]) -> None:
    """Append the Markdown that `made` gives to the file that GITHUB_STEP_SUMMARY names, if any.

    A summary that cannot be written is no fault.
    """
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    # A pipe that nobody reads would wait for ever.
    if not place or (os.path.exists(place) and not os.path.isfile(place)):
        return
    markdown = made()
    if len(markdown.encode()) > MOST:
        markdown = (
            markdown.encode()[:MOST].decode(errors="ignore").rpartition("\n")[0] + "\n\n(cut: the rest is in the log)\n"
        )
    with suppress(OSError), Path(place).open("a", encoding="utf-8") as file:
        file.write(markdown + "\n")

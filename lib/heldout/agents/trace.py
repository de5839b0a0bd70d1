"""The agent of a saved trace: none runs. The trace, or a variant of it, becomes the cell's transcript."""

from pathlib import Path

from heldout.agents.variants import Variant, render
from heldout.errors import Fault

CLIENT = "saved trace"


def keep(source: Path, variant: Variant, folder: Path) -> None:
    """Leave the trace of file `source` as `transcript.jsonl` in `folder`; Fault no-transcript when there is none."""
    try:
        if variant.missing:
            source = source.with_name(f"{source.stem}.missing{source.suffix}")
        saved = source.read_bytes()
    except OSError as error:
        raise Fault("no-transcript", f"cannot read '{source}': {error.strerror}") from error
    (folder / "transcript.jsonl").write_bytes(render(saved, variant) if variant.change else saved)

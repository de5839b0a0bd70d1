"""Tests with the real client: they need it installed, and a network namespace that has nothing but loopback."""

import os
from pathlib import Path

import pytest
from heldout import client
from heldout.errors import Refusal
from programs import ROOT

PLAIN = {"CLAUDE_CODE_MAX_RETRIES": "1", "HELDOUT_CLAUDE": "", "ANTHROPIC_API_KEY": ""}


def why_not() -> str:
    """Why these tests cannot run here, or ''."""
    devices = {line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]}
    if devices - {"lo", "tunl0", "sit0", "ip6tnl0"}:
        return "not in a loopback-only network namespace: run 'make e2e'"
    try:
        client.version(client.find())
    except Refusal as error:
        return str(error)
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if "e2e" in item.path.parts and not _without_client(item)]
    if here and (reason := why_not()):
        for item in here:
            item.add_marker(pytest.mark.skip(reason=f"{len(here)} tests with the real client skipped: {reason}"))


def _without_client(item: pytest.Item) -> bool:
    return bool(getattr(getattr(item, "module", None), "NEEDS_NO_CLIENT", False))


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials of the caller, few retries, and the pinned client in a copy of the project too."""
    for name in (*client.CREDENTIALS, "ANTHROPIC_BASE_URL", "ISOLATE", "CONFINE", "BUDGET_USD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "1")
    if not os.environ.get("HELDOUT_CLAUDE") and (ROOT / ".client").exists():
        monkeypatch.setenv("HELDOUT_CLAUDE", str(client.find()))

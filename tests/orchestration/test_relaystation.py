"""The fixture project runs, and each scenario's premise is visible in it exactly once."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIXTURE = ROOT / "fixture/orchestration"
PROJECT = FIXTURE / "project"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sandbox root as `prepare` leaves it."""
    root = tmp_path_factory.mktemp("sandbox")
    shutil.copytree(PROJECT, root / "project")
    subprocess.run([FIXTURE / "prepare"], cwd=root, check=True)
    return root


def texts(project: Path) -> dict[str, str]:
    files = (path for path in sorted(project.rglob("*")) if path.is_file())
    return {path.relative_to(project).as_posix(): path.read_text() for path in files}


def node(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    if not shutil.which("node"):
        pytest.skip("no node here")
    return subprocess.run(["node", *arguments], cwd=cwd, capture_output=True, text=True)


def test_node_tests_pass(sandbox: Path) -> None:
    result = node("--test", cwd=sandbox / "project")
    assert result.returncode == 0, result.stdout
    assert int(re.findall(r"# pass (\d+)", result.stdout)[0]) > 40


def test_configuration_is_accepted(sandbox: Path) -> None:
    assert node("bin/relaystation.js", "check-config", cwd=sandbox / "project").stdout == "ok: 9 services\n"


@pytest.mark.parametrize(
    "plant, place",
    [
        ("recieve", "README.md"),
        ("seperate", "CHANGELOG.md"),
        ("RelayStation", "docs/operations.md"),
        ("dead mailbox", "docs/faq.md"),
    ],
)
def test_each_plant_occurs_once_in_the_whole_sandbox(sandbox: Path, plant: str, place: str) -> None:
    found = {name: text.count(plant) for name, text in texts(sandbox / "project").items() if plant in text}
    assert found == {place: 1}


def test_every_mention_of_the_product_but_the_plant_is_spelled_right(sandbox: Path) -> None:
    words = re.findall(r"relay[- ]?station", "\n".join(texts(sandbox / "project").values()), re.IGNORECASE)
    assert set(words) == {"Relaystation", "relaystation", "RelayStation"}


def test_nine_services_none_with_the_blocks_that_are_asked_for() -> None:
    services = {path.stem: json.loads(path.read_text()) for path in (PROJECT / "services").glob("*.json")}
    assert len(services) == 9
    assert len({frozenset(service) for service in services.values()}) >= 7, "each has fields of its own"
    for name, service in services.items():
        assert service["id"] == name
        assert "retry" not in service and "rateLimit" not in service
    assert {service["sla"]["tier"] for service in services.values()} == {"gold", "silver", "bronze"}


def test_the_nine_edits_are_accepted_by_the_loader(sandbox: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(sandbox / "project", project)
    for path in (project / "services").glob("*.json"):
        service = json.loads(path.read_text())
        service["retry"] = {"maxAttempts": 8, "baseDelayMs": 500, "maxDelayMs": 15000}
        service["rateLimit"] = {"perSecond": -(-service["contract"]["hourlyQuota"] // 3600), "burst": 4}
        path.write_text(json.dumps(service, indent=2) + "\n")
    result = node("bin/relaystation.js", "check-config", cwd=project)
    assert (result.returncode, result.stdout) == (0, "ok: 9 services\n")


def test_retry_values_differ_by_service_not_only_by_tier() -> None:
    """The cap at a quarter of the promise bites for some services of a tier and not for others."""
    caps = {"gold": 60_000, "silver": 180_000, "bronze": 600_000}
    values = set()
    for path in (PROJECT / "services").glob("*.json"):
        sla = json.loads(path.read_text())["sla"]
        values.add((sla["tier"], min(caps[sla["tier"]], sla["deliverWithinMs"] // 4)))
    assert len(values) == 8


def test_thirteen_runbooks_and_event_pages_are_missing() -> None:
    alerts = json.loads((PROJECT / "config/alerts.json").read_text())
    runbooks = [alert["runbook"] for alert in alerts]
    assert [name for name in runbooks if (PROJECT / name).exists()] == ["docs/runbooks/intake-rejects-high.md"]
    assert len(set(runbooks)) == 14
    assert all((PROJECT / alert["source"]).is_file() for alert in alerts)
    types = json.loads((PROJECT / "config/event-types.json").read_text())
    assert [name for name in types if (PROJECT / f"docs/events/{name}.md").exists()] == ["invoice.issued"]
    assert len(types) == 14


def test_each_alert_reads_a_metric_that_the_code_reports() -> None:
    code = "\n".join(path.read_text() for path in (PROJECT / "src").glob("*.js"))
    for alert in json.loads((PROJECT / "config/alerts.json").read_text()):
        timing = re.fullmatch(r"(\w+)\.p95_ms", alert["metric"])
        reported = f"time('{timing[1]}'" if timing else f"'{alert['metric']}'"
        assert reported in code, alert["id"]


def test_subscriptions_name_known_event_types() -> None:
    types = set(json.loads((PROJECT / "config/event-types.json").read_text()))
    for path in (PROJECT / "services").glob("*.json"):
        for pattern in json.loads(path.read_text())["events"]:
            group = pattern.removesuffix("*")
            assert any(name == pattern or (pattern != group and name.startswith(group)) for name in types), pattern


def test_links_between_the_pages_resolve() -> None:
    for page in [PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_modules_to_review_are_worth_a_review() -> None:
    for name in ("intake", "queue", "delivery", "auth", "config", "admin"):
        assert len((PROJECT / f"src/{name}.js").read_text().splitlines()) >= 50, name


def test_the_project_says_nothing_of_tests_on_agents(sandbox: Path) -> None:
    for name, text in texts(sandbox / "project").items():
        assert not re.search(r"heldout|subagent|\bplanted?\b|scenario|\bLLM\b|claude", text, re.IGNORECASE), name


def test_logs_reach_the_first_commit_and_the_generator_does_not(sandbox: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(sandbox / "project", project)
    assert not (project / "bin/gen-logs").exists()
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    ignored = subprocess.run(["git", "status", "--short", "--ignored"], cwd=project, capture_output=True, text=True)
    assert "!!" not in ignored.stdout
    assert "?? logs/" in ignored.stdout


def test_logs_are_not_part_of_the_fixture() -> None:
    assert not (PROJECT / "logs").exists()

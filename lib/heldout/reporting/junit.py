"""The report as JUnit XML, for CI services: a test case is a scenario × model, and the pass bar is its outcome.

One rep that misses is no failed test: a behaviour is measured over reps. A bar that is missed is a failure, one that
reps of ERROR, or asked for and never measured, leave open an error. The reps stand in the case's output. Source of the
format: the Ant task's schema, as GitHub, GitLab and Jenkins read it.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from heldout.reporting import figures, inference, mixture, summary
from heldout.reporting.text import between
from heldout.reporting.unmeasured import Unmeasured
from heldout.rows import Row

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OUTCOMES = {"missed": "failure", "undecided": "error"}


def written(name: str, rows: Sequence[Row], unmeasured: Sequence[Unmeasured] = ()) -> str:
    """The whole document."""
    root = Xml.Element("testsuites", name=_fit(name))
    found = summary.groups(rows, unmeasured)
    by, left = mixture.by_cell(rows), _reps(unmeasured)
    for place in dict.fromkeys((group.suite, group.model) for group in found):
        groups = [group for group in found if (group.suite, group.model) == place]
        bars = [inference.bar(group) for group in groups]
        suite = Xml.SubElement(root, "testsuite", name=_fit(" ".join(place)), tests=str(len(groups)))
        suite.set("failures", str(bars.count("missed")))
        suite.set("errors", str(bars.count("undecided")))
        suite.set("time", _seconds([row for group in groups for row in by.get(group.key, ())]))
        for group, bar in zip(groups, bars, strict=True):
            _case(suite, group, bar, by.get(group.key, ()), left.get(group.key, ()))
    Xml.indent(root)
    return Xml.tostring(root, "unicode", xml_declaration=True) + "\n"


def _reps(unmeasured: Sequence[Unmeasured]) -> dict[tuple[str, str, str], list[int]]:
    """The reps that are missing by suite, scenario and model."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for item in unmeasured:
        found.setdefault(item[:3], []).append(item.rep)
    return found


def _case(suite: Xml.Element, group: summary.Group, bar: str, rows: Sequence[Row], left: Sequence[int]) -> None:
    case = Xml.SubElement(suite, "testcase", name=_fit(group.scenario), time=_seconds(rows))
    case.set("classname", _fit(f"{group.suite}.{group.model}"))
    told = f"{group.shown()} {between(inference.of_group(group)['interval'])}".rstrip()
    if bar in _OUTCOMES:
        reasons = "\n".join(f"{count} × {reason}" for reason, count in group.reasons.most_common())
        outcome = Xml.SubElement(case, _OUTCOMES[bar], message=f"{told}: the bar of 2/3 of the reps is {bar}")
        outcome.text = _fit(reasons)
    lines = [f"r{row.rep} {row.verdict} {'; '.join(row.reasons)}".rstrip() for row in rows]
    lines += [f"r{rep} unmeasured" for rep in left]
    Xml.SubElement(case, "system-out").text = _fit("\n".join([told, *lines]))


def _seconds(rows: Sequence[Row]) -> str:
    return f"{sum(figures.duration_ms(row) or 0 for row in rows) / 1000:.3f}"


def _fit(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)

"""The prompt of a scenario: the Task itself, or for a prompted one its suite's runner prompt with the Task in it.

`fixture/<suite>/runner-prompt.md` may hold {{SANDBOX}} (the agent's working directory), {{PLUGIN_ROOT}} (the folder of
the plugin that has the skill), {{SKILL}} (the scenario's key `skill`) and {{TASK}}. So a driver can hand a subagent the
prompt that `run` hands to a client.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from heldout.errors import Refusal
from heldout.scenario import Scenario
from heldout.yamlfile import near_miss

ANSWER = "ANSWER.md"  # where a prompted agent leaves its answer, in its working directory or the sandbox's root
PLACEHOLDERS = ("SANDBOX", "PLUGIN_ROOT", "SKILL", "TASK")
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


def source(scenario: Scenario) -> str:
    """Everything of the scenario that shapes its prompt, for its digest."""
    template = _template(scenario)
    return "\0".join([template, scenario.skill or "", scenario.task]) if template else scenario.task


def render(scenario: Scenario, cwd: Path, plugins: Sequence[Path]) -> str:
    """The prompt for an agent that works in `cwd` with these plugins.

    Raises Refusal when the runner prompt holds an unknown placeholder, or one that this scenario has nothing for.
    """
    template = _template(scenario)
    if not template:
        return scenario.task
    path = scenario.runner_prompt

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name == "TASK":
            return scenario.task
        if name == "SANDBOX":
            return str(cwd)
        if name not in PLACEHOLDERS:
            line = template.count("\n", 0, found.start()) + 1
            raise Refusal(f"{path}:{line}: unknown placeholder '{found[0]}'", near_miss(name, PLACEHOLDERS))
        if not scenario.skill:
            raise Refusal(f"{scenario.path}: key 'skill' is missing: '{path.name}' has '{found[0]}'")
        return scenario.skill if name == "SKILL" else str(_plugin_with(scenario.skill, plugins))

    # In one pass, so that nothing in a Task is taken for a placeholder.
    return _PLACEHOLDER.sub(value, template)


def _template(scenario: Scenario) -> str:
    """The runner prompt of a prompted scenario's suite, or ''."""
    if scenario.posture != "prompted" or not scenario.runner_prompt.is_file():
        return ""
    return scenario.runner_prompt.read_text("utf-8")


def _plugin_with(skill: str, plugins: Sequence[Path]) -> Path:
    for root in plugins:
        if (root / "skills" / skill / "SKILL.md").is_file():
            return root
    names = ", ".join(f"'{root}'" for root in plugins) or "no plugin"
    raise Refusal(f"skill '{skill}' is not in {names}", "a skill is skills/NAME/SKILL.md of a plugin")

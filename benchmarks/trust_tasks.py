"""Writes the tasks of AgentDojo with their true calls as JSON, for `trust.py`.

It runs in an environment of its own (`pip install agentdojo==0.1.35`):
`python benchmarks/trust_tasks.py > tasks.json`.
"""

import json
import sys
from typing import Any

from agentdojo.functions_runtime import FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites
from pydantic import BaseModel

VERSION = "v1.2.1"
_MARK = "~injected text~"


def main() -> None:
    """Write the tasks to standard output."""
    suites = {name: _read_suite(suite) for name, suite in get_suites(VERSION).items()}
    json.dump({"version": VERSION, "suites": suites}, sys.stdout, default=str)


def _read_suite(suite: Any) -> dict[str, Any]:
    return {
        "users": {
            key: {"prompt": task.PROMPT, "calls": _read_calls(suite, task)}
            for key, task in suite.user_tasks.items()
        },
        "injections": {
            key: _read_calls(suite, task) for key, task in suite.injection_tasks.items()
        },
    }


def _read_calls(suite: Any, task: Any) -> list[dict[str, Any]]:
    """The true calls of a task with their results, and whether an attacker's text is in them."""
    marks = dict.fromkeys(suite.get_injection_vector_defaults(), _MARK)
    environment = suite.load_and_inject_default_environment(marks)
    if hasattr(task, "init_environment"):  # of a user's task
        environment = task.init_environment(environment)
    runtime = FunctionsRuntime(suite.tools)
    calls: list[dict[str, Any]] = []
    for call in task.ground_truth(environment):
        output, _ = runtime.run_function(environment, call.function, call.args)
        made = {"tool": call.function, "arguments": call.args, "result": _read_result(output)}
        calls.append(made | {"injected": _MARK in str(output)})
    return calls


def _read_result(output: Any) -> Any:
    """A result as JSON."""
    if isinstance(output, BaseModel):
        return output.model_dump(mode="json")
    if isinstance(output, dict):
        return {str(key): _read_result(value) for key, value in output.items()}
    if isinstance(output, (list, tuple)):
        return [_read_result(item) for item in output]
    return output


if __name__ == "__main__":
    main()

"""A plan of a goal: its steps, what they have come to, and the graph that runs them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from pegboard.core.graph import Edge, Graph, Node

MAX_STEPS = 6
_MIN_TEXT, _MAX_TEXT = 300, 8_000
"""Characters of the outcome of a step that a model is shown, beside what the room allows."""
_RESULT = "Result of the step '{title}':\n{{{{ steps.{id}.output.text }}}}"

StepState = Literal["completed", "failed", "skipped", "cancelled"]


class GoalStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of a plan.

    Attributes:
        id: Unique over all plans of the goal.
        title: A few words for people.
        task: What the agent of the step is told.
        dependencies: The ids of steps whose results it needs.
        tool_hint: A tool that should help; empty for none.
        model_hint: Whether the step needs the better model or the faster one.
    """

    id: str
    title: str
    task: str
    dependencies: tuple[str, ...] = ()
    tool_hint: str = ""
    model_hint: Literal["smart", "fast"] = "smart"


class StepOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a step has ended.

    Attributes:
        text: The answer of its agent, or why there is none.
    """

    id: str
    title: str
    state: StepState
    text: str = ""


def shorten_outcomes(outcomes: Iterable[StepOutcome], room: int | None) -> list[StepOutcome]:
    """Outcomes that take at most half of a request.

    Args:
        outcomes: How steps have ended.
        room: Tokens of a request; None where that is not known.
    """
    found = list(outcomes)
    share = _MAX_TEXT if room is None else room // max(1, len(found))
    most = max(_MIN_TEXT, min(_MAX_TEXT, share))
    return [
        structs.replace(item, text=f"{item.text[:most]} …") if len(item.text) > most else item
        for item in found
    ]


def describe_plan(*, least: int) -> dict[str, Any]:
    """JSON Schema of a plan.

    Args:
        least: The number of steps that it must have.
    """
    text = {"type": "string", "minLength": 1}
    step = {
        "type": "object",
        "properties": {
            "id": {
                "type": "string",
                "pattern": "^[a-z][a-z0-9_]{0,39}$",
                "description": "A short name, unlike those of steps that are done.",
            },
            "title": {**text, "maxLength": 60, "description": "A few words for people."},
            "task": {**text, "maxLength": 8_000, "description": "Complete in itself."},
            "dependencies": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids of steps whose results this one needs.",
            },
            "tool_hint": {"type": "string", "description": "A tool that should help; or empty."},
            "model_hint": {"type": "string", "enum": ["smart", "fast"]},
        },
        "required": ["id", "title", "task", "dependencies"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": step, "minItems": least, "maxItems": MAX_STEPS}
        },
        "required": ["steps"],
        "additionalProperties": False,
    }


def leave_out_done(steps: Sequence[GoalStep], done: Collection[str]) -> list[GoalStep]:
    """A plan without steps that are done: they are not repeated, whatever a model plans."""
    return [step for step in steps if step.id not in done]


def plan_graph(
    goal: str,
    steps: Sequence[GoalStep],
    outcomes: Mapping[str, StepOutcome],
    config: Mapping[str, Any],
    *,
    fast_model: str = "",
) -> tuple[Graph, dict[str, Any]]:
    """The graph that runs steps, and its params.

    A step that fails ends no other: those that need it are skipped, the others go on.

    Args:
        goal: What the person wants.
        steps: What to run.
        outcomes: Of steps that have ended, by id; a step may depend on them too.
        config: The configuration of the agents.
        fast_model: The model of steps that need no better one; empty for that of the agent.
    """
    titles = {step.id: step.title for step in steps}
    nodes: list[Node] = []
    for step in steps:
        inner = [name for name in step.dependencies if name in titles or name not in outcomes]
        results = (_RESULT.format(title=_plain(titles.get(i, i)), id=i) for i in inner)
        hint = {"model": fast_model} if fast_model and step.model_hint == "fast" else {}
        texts = [_PREAMBLE, f"{{{{ params.tasks.{step.id} }}}}", *results]
        nodes.append(
            Node(
                id=step.id,
                kind="agent",
                title=step.title,
                input={"message": "\n\n".join(texts)},
                config={**config, **hint, "is_step": True, "steering": f"steer-{step.id}"},
                edges=tuple(Edge(node=name) for name in inner),
                on_failure="skip",
            )
        )
    output = {name: f"$.steps.{name}.output.text" for name in titles}
    known = {name: item for name, item in outcomes.items() if name not in titles}
    tasks = {step.id: "\n\n".join(_describe_task(step, known)) for step in steps}
    graph = Graph(nodes=tuple(nodes), name="goal", output=output)
    return graph, {"goal": goal, "tasks": tasks}


_PREAMBLE = (
    "You do one step of a larger goal. Do this step alone, and answer with its result: facts, "
    "figures, names and ids that the following steps need.\n\nThe goal, for orientation:\n"
    "{{ params.goal }}\n\nYour step:"
)


def _describe_task(step: GoalStep, outcomes: Mapping[str, StepOutcome]) -> Iterator[str]:
    yield step.task
    if step.tool_hint:
        yield f"A tool that should help: {step.tool_hint}"
    for name in step.dependencies:
        if (outcome := outcomes.get(name)) is not None:
            yield f"Result of the step '{outcome.title}':\n{outcome.text}"


def _plain(text: str) -> str:
    """A text that holds no template."""
    return text.replace("{", "(").replace("}", ")")

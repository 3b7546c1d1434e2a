"""A plan: a graph, and why it looks like this."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pegboard.core.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Why a step has this tool.

    Attributes:
        step: The step's id.
        wanted: The goal or capability that it answers, or the tool that needs it.
        tool: What was chosen.
        reason: In words, for people.
        alternatives: What else would have done, the best first.
        scores: Each candidate's score, higher is better.
    """

    step: str
    wanted: str
    tool: str
    reason: str
    alternatives: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A graph that answers a request; not checked and not run.

    Attributes:
        mode: `direct`, `capabilities` or `chain`.
        choices: One for each step, in the order of the steps.
        notes: What the planner could not decide by itself.
    """

    graph: Graph
    mode: str
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()

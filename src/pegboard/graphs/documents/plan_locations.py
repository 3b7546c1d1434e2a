"""Paths of faults as in the plan document: by the id of the step, with the plan's field names."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from pegboard.core.graph import Graph
from pegboard.errors import GraphInvalid, Problem
from pegboard.graphs.checks.faults import Fault

_PLACE = re.compile(r"nodes(?:\[(\d+)\](?:\.(.*))?)?", re.DOTALL)
_STEP = re.compile(r"steps\[(\d+)\](.*)", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,200}")
_WORDS = (
    (re.compile(r"^fallbacks\[(\d+)\]\.tool\b"), r"fallbacks[\1].tool_id"),
    (re.compile(r"^fallbacks\[(\d+)\]\.input\b"), r"fallbacks[\1].input_mapping"),
    (re.compile(r"^tool\b"), "tool_id"),
    (re.compile(r"^input\b"), "input_mapping"),
    (re.compile(r"^edges\b(\[\d+\])?(\.node\b)?"), r"depends_on\1"),
)


class PlanLocations:
    """The places of one plan, for many faults of it.

    Args:
        ids: Of its steps, in their order.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = list(ids)
        self._counts = Counter(self._ids)

    def locate(self, place: str) -> str:
        """Translate a path of the graph into one of the plan.

        `nodes[0].input.kg` becomes `steps.price.input_mapping.kg`.
        """
        found = _PLACE.fullmatch(place)
        if found is None:
            return place
        number, rest = found[1], found[2] or ""
        if number is None:
            return "steps"
        if rest == "id":  # of a step whose id is wrong, the id says nothing
            return f"steps[{number}].step_id"
        for words, instead in _WORDS:
            rest, is_it = words.subn(instead, rest)
            if is_it:
                break
        return f"{self._step(int(number))}.{rest}".rstrip(".")

    def name_step(self, place: str) -> str:
        """`steps[0].when` with the id of the step; as it is where the id is what is wrong."""
        found = _STEP.fullmatch(place)
        if found is None or found[2].startswith(".step_id"):
            return place
        return f"{self._step(int(found[1]))}{found[2]}"

    def _step(self, number: int) -> str:
        id_ = self._ids[number] if number < len(self._ids) else ""
        is_clear = _PLAIN.fullmatch(id_) is not None and self._counts[id_] == 1
        return f"steps.{id_}" if is_clear else f"steps[{number}]"


def faults_in_plan(graph: Graph, faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults of a graph that was written as a plan, where its author finds them."""
    places = PlanLocations(node.id for node in graph)
    return tuple(replace(fault, place=places.locate(fault.place)) for fault in faults)


def invalid_plan(graph: Graph, error: GraphInvalid) -> GraphInvalid:
    """The refusal of a graph that was written as a plan, for its author."""
    places = PlanLocations(node.id for node in graph)
    problems = (
        Problem(path=places.locate(item.path), message=item.message, kind=item.kind)
        for item in error.problems
    )
    return GraphInvalid(graph.name or graph.id, tuple(problems))

"""A plan in the making: its steps so far, and what the next one could be given."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pegboard.core.graph import Node
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import InvalidRequest
from pegboard.graphs.expressions.references import parse_reference, references
from pegboard.planning.input_mapping import (
    InputMapping,
    ValueSource,
    is_named,
    map_inputs,
    outputs_given,
    resolve_root_ref,
)
from pegboard.planning.result import Choice


class PlanBuilder:
    """Steps in the order in which they were added; each may take from those before it."""

    def __init__(self, params: Sequence[ValueSource]) -> None:
        self._params = tuple(params)
        self._arguments: set[str] = set()
        self._unfit: set[str] = set()
        self._givers: list[ValueSource] = list(params)
        self._nodes: list[Node] = []
        self._choices: list[Choice] = []
        self._notes: list[str] = []
        self._steps: dict[str, str] = {}
        self._silent: list[str] = []  # steps whose tools do not say what they return

    def wire(
        self, spec: ToolSpec, *, given: Mapping[str, Any] | None = None, is_whole: bool = True
    ) -> InputMapping:
        """What a step with this tool would be given now.

        Args:
            spec: The tool.
            given: Inputs of the request.
            is_whole: Whether all that it needs to have run is there.
        """
        is_whole = is_whole and not self._silent
        return map_inputs(spec, self._givers, given=given, is_whole=is_whole)

    def waits(self, spec: ToolSpec, others: Sequence[ToolSpec]) -> int:
        """How many required inputs have the name of an output of these, and of nothing there is."""
        required = resolve_root_ref(spec.input_schema).get("required", ())
        coming = [giver for other in others for giver in outputs_given("later", other)]
        return sum(
            not is_named(argument, self._givers) and is_named(argument, coming)
            for argument in required
        )

    def add(self, node: Node, spec: ToolSpec, choice: Choice, wiring: InputMapping) -> None:
        """Put a step at the end."""
        self._nodes.append(node)
        self._choices.append(choice)
        self._steps[spec.id] = node.id
        self._givers += outputs_given(node.id, spec)
        self._arguments.update(resolve_root_ref(spec.input_schema).get("properties", ()))
        self._unfit.update(wiring.unfit)
        for item, reason in wiring.unfit.items():
            what = f"the param '{item}' cannot be '{item}' of '{spec.name}'"
            self.note(f"Step '{node.id}': {what}: {reason}.")
        silent = " or ".join(f"'{step}'" for step in self._silent)
        for item in wiring.missing:
            if item in wiring.unfit:
                continue
            why = f" ({silent} may, but has no output schema)" if silent else ""
            self.note(
                f"Step '{node.id}': nothing gives '{item}' of '{spec.name}'{why}; give it as a "
                "param, or write it into the plan."
            )
        if spec.output_schema is None:
            self._silent.append(node.id)

    def new_id(self, spec: ToolSpec) -> str:
        """A step's id: what the tool does, numbered when it is there already."""
        action = split_wire_name(spec.name)[1]
        taken = {node.id for node in self._nodes}
        number = 1
        wanted = action
        while wanted in taken:
            number += 1
            wanted = f"{action}_{number}"
        return wanted

    def step_of(self, tool_id: str) -> str | None:
        """The step that runs the tool of this id; None when none does."""
        return self._steps.get(tool_id)

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self._notes:
            self._notes.append(text)

    def note_unused_params(self) -> None:
        """Say which params no step takes: an optional input may be misspelt."""
        values = [
            value
            for node in self._nodes
            for value in (node.input, *(item.input for item in node.fallbacks))
        ]
        taken = {name for value in values for name in _find_params(value)}
        for param in self._params:
            if taken.isdisjoint({param.name, ""}) and param.name not in self._unfit:
                hint = did_you_mean(param.name, self._arguments)
                self.note(f"No step takes the param '{param.name}'{'; ' if hint else '.'}{hint}")

    def nodes(self) -> tuple[Node, ...]:
        """All steps."""
        return tuple(self._nodes)

    def choices(self) -> tuple[Choice, ...]:
        """Why each step is there."""
        return tuple(self._choices)

    def notes(self) -> tuple[str, ...]:
        """What could not be decided."""
        return tuple(self._notes)


def _find_params(value: Any) -> Iterator[str]:
    """The params that a value takes something from; empty for all of them."""
    for _, path in references(value):
        try:
            reference = parse_reference(path)
        except InvalidRequest:  # the checker reports it
            continue
        if reference.root == "params":
            yield str(reference.keys[0]) if reference.keys else ""

"""A plan in the making: its steps so far, and what the next one could be given."""

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.graph import Node
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import split_wire_name
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
        self._givers: list[ValueSource] = list(params)
        self._nodes: list[Node] = []
        self._choices: list[Choice] = []
        self._notes: list[str] = []
        self._steps: dict[str, str] = {}

    def wire(
        self, spec: ToolSpec, *, given: Mapping[str, Any] | None = None, is_whole: bool = True
    ) -> InputMapping:
        """What a step with this tool would be given now.

        Args:
            spec: The tool.
            given: Inputs of the request.
            is_whole: Whether all that it needs to have run is there.
        """
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
        for item in wiring.missing:
            self.note(
                f"Step '{node.id}': nothing gives '{item}' of '{spec.name}'; give it as a param, "
                "or write it into the plan."
            )

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

    def nodes(self) -> tuple[Node, ...]:
        """All steps."""
        return tuple(self._nodes)

    def choices(self) -> tuple[Choice, ...]:
        """Why each step is there."""
        return tuple(self._choices)

    def notes(self) -> tuple[str, ...]:
        """What could not be decided."""
        return tuple(self._notes)

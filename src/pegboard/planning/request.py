"""What a plan is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.errors import InvalidRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One tool of a fallback chain.

    Attributes:
        tool: Name or id.
        input: Argument to a literal or a path; what it leaves out is wired as usual.
    """

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a plan is asked for, in one of three ways.

    Attributes:
        goal: A tool's name or id, or a task that a tool says it supports.
        capabilities: Each becomes one step, in an order that their inputs and outputs allow.
        chain: Tools for one step: the first that works.
        params: The params of the run; their types are inferred from the values.
        params_schema: JSON Schema of the params; None reads it from `params`.
        fallbacks: How many other tools with the same capability a step may fall back to.
        task_id: Copied into the plan.

    Raises:
        InvalidRequest: Not exactly one of goal, capabilities and chain, or one that is no tuple of
            its kind.
    """

    goal: str = ""
    capabilities: tuple[str, ...] = ()
    chain: tuple[ChainLink, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    params_schema: Mapping[str, Any] | None = None
    fallbacks: int = 2
    task_id: str = ""

    def __post_init__(self) -> None:
        given = [bool(self.goal), bool(self.capabilities), bool(self.chain)].count(True)
        if given != 1:
            raise InvalidRequest(
                "A plan needs exactly one of goal, capabilities and chain; "
                f"{'none' if given == 0 else 'several'} are given."
            )
        if isinstance(self.capabilities, str):
            raise InvalidRequest(
                f"'capabilities' takes several names: write capabilities=({self.capabilities!r},)"
            )
        if not all(hasattr(link, "tool") for link in self.chain):
            raise InvalidRequest("'chain' takes links: write chain=(ChainLink(tool=\"...\"), ...)")

    @property
    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the params."""
        return schema_of(self.params) if self.params_schema is None else self.params_schema


def schema_of(value: Any) -> dict[str, Any]:
    """The JSON Schema inferred from a value: types, properties and items."""
    match value:
        case None:
            return {"type": "null"}
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case Mapping():
            return {
                "type": "object",
                "properties": {str(key): schema_of(item) for key, item in value.items()},  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - any JSON object
                "required": [str(key) for key in value],  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - any JSON object
                "additionalProperties": False,
            }
        case list() | tuple():
            kinds = [schema_of(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - any JSON array
            return {"type": "array", "items": _one_of(kinds)}
        case _:
            return {}


def _one_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    distinct: list[dict[str, Any]] = []
    for schema in schemas:
        if schema not in distinct:
            distinct.append(schema)
    if not distinct:
        return {}
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}

"""Pinned definitions of upstream tools, and tools whose new definition is withheld."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pegboard.core.ports.catalogue_stores import Definition
from pegboard.core.tool import Tool, ToolSpec, UpstreamTool
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import SourceUnavailable
from pegboard.registry.pin_policy import PinVerdict
from pegboard.schemas.diff import SchemaChangeKind
from pegboard.schemas.tool_definition import DEFINING, definition_of, digest_of, spec_of
from pegboard.tools import SchemaTool

State = Literal["waiting", "rejected", "blocked"]

_FIXED = ("name", "source", "handler")
_SCHEMAS = ("input_schema", "output_schema")
_MAX_KEY = 200
_WHY: Mapping[State, str] = {
    "waiting": "waits for approval:",
    "rejected": "the change was rejected; to accept it anyway:",
    "blocked": "the board blocks changes; to accept it, write 'ask' under 'pinning:', then run",
}
_WHY_NEW: Mapping[State, str] = {
    "waiting": "waits for approval:",
    "rejected": "it was rejected; to accept it anyway:",
    "blocked": "waits for approval:",
}
_SAID = tuple(field for field in DEFINING if field not in (*_FIXED, *_SCHEMAS))
"""Fields that an operator may override; overridden fields are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDefinition:
    """A tool as its upstream lists it now.

    Attributes:
        name: Upstream name.
        definition: The definition given by the upstream.
    """

    tool: Tool
    name: str
    definition: Definition

    def with_pinned_overrides(self, pinned: Definition) -> Definition:
        """Return the definition to compare: overridden fields keep their pinned value.

        Args:
            pinned: The approved definition.
        """
        shown, own = definition_of(self.tool.spec, fields=_SAID), _overridden(self.tool)
        theirs = [field for field in _SAID if shown[field] != self.definition[field]]
        kept = {field: pinned[field] for field in (*theirs, *own) if field in pinned}
        return {**self.definition, **kept}


def upstream_of(tool: Tool) -> ToolSpec | None:
    """Return the spec given by the upstream; None for a tool without an upstream."""
    return tool.upstream if isinstance(tool, UpstreamTool) else None


def read_definition(tool: Tool) -> ListedDefinition | None:
    """Return the tool with its definition; None when there is nothing to pin.

    This reads foreign schemas, and may raise whatever they provoke.
    """
    upstream = upstream_of(tool)
    if upstream is None or tool.spec.unavailable:
        return None
    name = _key(upstream.action or upstream.name)
    # an overridden schema is not built at all
    left_out = _overridden(tool) & {"output_schema"}
    fields = [field for field in DEFINING if field not in left_out]
    # of a copy: what is built for it need not stay in memory for every tool
    definition = definition_of(upstream.replace(), fields=fields)
    return ListedDefinition(tool=tool, name=name, definition=definition)


def _overridden(tool: Tool) -> frozenset[str]:
    return tool.overridden if isinstance(tool, UpstreamTool) else frozenset()


def _key(name: str) -> str:
    """The upstream name in a form that every store accepts, without collisions."""
    if name.isprintable() and len(name) <= _MAX_KEY:
        return name
    clean = "".join(char for char in name[:_MAX_KEY] if char.isprintable())
    return f"{clean}~{digest_of({'name': repr(name)})[:16]}"


def withhold(
    item: ListedDefinition, pinned: Definition, verdict: PinVerdict, *, state: State
) -> Tool:
    """Return the tool with its approved definition, callable while that still describes it.

    A breaking change could give a call another meaning than the approved one: the tool then waits.
    """
    tool = item.tool
    approved = _find_approved_spec(item, pinned)
    if approved is not None and verdict.diff.kind is not SchemaChangeKind.BREAKING:
        return SchemaTool(spec=approved, run=tool.run, upstream=upstream_of(tool))
    reason = f"its definition has changed upstream and {_WHY[state]} {_command(tool)}."
    return make_unavailable(tool, reason, spec=approved or spec_of(pinned))


def withhold_new(item: ListedDefinition, *, state: State) -> Tool:
    """Return an unapproved new tool as unavailable, without anything that its upstream says."""
    reason = f"it is new upstream and {_WHY_NEW[state]} {_command(item.tool)}."
    return make_unavailable(item.tool, reason)


def _command(tool: Tool) -> str:
    source, action = split_wire_name(tool.spec.name)
    return f"'pegboard pins approve {source} {action}'"


def make_unavailable(tool: Tool, reason: str, *, spec: ToolSpec | None = None) -> Tool:
    """Return the tool as one that cannot be used now.

    Args:
        tool: The tool to replace.
        reason: Why it is unavailable, and what to do.
        spec: What may be shown of it; None for its name only.
    """
    name = tool.spec.name

    async def run(_arguments: Mapping[str, Any], _ctx: Any) -> Any:
        raise SourceUnavailable(f"'{name}' cannot be used: {reason}")

    shown = spec or ToolSpec(name=name, input_schema={"type": "object"})
    kept = {field: getattr(tool.spec, field) for field in (*_FIXED, "action", "id", "version")}
    return SchemaTool(spec=shown.replace(**kept, unavailable=reason), run=run)


def _find_approved_spec(item: ListedDefinition, pinned: Definition) -> ToolSpec | None:
    """The board's own spec with approved values in place of changed ones.

    None if the operator overrides a schema that has changed: it mixes both.
    """
    spec = item.tool.spec
    old, new = spec_of(pinned), item.with_pinned_overrides(pinned)
    known = [field for field in DEFINING if field in pinned and field in new]
    changed = [field for field in known if field not in _FIXED and pinned[field] != new[field]]
    schemas = [field for field in changed if field in _SCHEMAS]
    shown = definition_of(spec, fields=schemas) if schemas else {}
    if any(shown[field] != item.definition[field] for field in schemas):
        return None
    return spec.replace(**{field: getattr(old, field) for field in changed})

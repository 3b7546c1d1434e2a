"""What is pinned of a tool, and how a tool looks whose new definition waits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pegboard.core.ports.catalogue_stores import Definition
from pegboard.core.tool import Tool, ToolSpec, UpstreamTool
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import SourceUnavailable
from pegboard.registry.definition_diff import DEFINING, definition_of, digest_of, spec_of
from pegboard.registry.pin_policy import Verdict
from pegboard.schemas.diff import SchemaChangeKind
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
"""What an operator may say differently of a tool; what is said so is judged no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDefinition:
    """A tool of an upstream, as it was listed now.

    Attributes:
        name: What the upstream calls it.
        definition: What the upstream says it is.
    """

    tool: Tool
    name: str
    definition: Definition

    def with_pinned_overrides(self, pinned: Definition) -> Definition:
        """What there is to judge: where the operator's word holds, the upstream's does not count.

        Args:
            pinned: What was approved.
        """
        shown, own = definition_of(self.tool.spec, fields=_SAID), _overridden(self.tool)
        theirs = [field for field in _SAID if shown[field] != self.definition[field]]
        kept = {field: pinned[field] for field in (*theirs, *own) if field in pinned}
        return {**self.definition, **kept}


def upstream_of(tool: Tool) -> ToolSpec | None:
    """What somebody else says that the tool is; None for a tool that nobody else describes."""
    return tool.upstream if isinstance(tool, UpstreamTool) else None


def read_definition(tool: Tool) -> ListedDefinition | None:
    """The tool with its definition; None when there is nothing to pin.

    Making the definition reads foreign schemas, and may raise what those make it raise.
    """
    upstream = upstream_of(tool)
    if upstream is None or tool.spec.unavailable:
        return None
    name = _key(upstream.action or upstream.name)
    # a schema that nobody is promised is not even made
    left_out = _overridden(tool) & {"output_schema"}
    fields = [field for field in DEFINING if field not in left_out]
    return ListedDefinition(tool=tool, name=name, definition=definition_of(upstream, fields=fields))


def _overridden(tool: Tool) -> frozenset[str]:
    return tool.overridden if isinstance(tool, UpstreamTool) else frozenset()


def _key(name: str) -> str:
    """The upstream's name for a tool as any store can keep it: no other may pass for it."""
    if name.isprintable() and len(name) <= _MAX_KEY:
        return name
    clean = "".join(char for char in name[:_MAX_KEY] if char.isprintable())
    return f"{clean}~{digest_of({'name': repr(name)})[:16]}"


def withhold(item: ListedDefinition, pinned: Definition, verdict: Verdict, *, state: State) -> Tool:
    """The tool under its approved definition, callable where that still describes what runs.

    Whatever is breaking would let a call mean something else than what was approved: then it waits.
    """
    tool = item.tool
    approved = _find_approved_spec(item, pinned)
    if approved is not None and verdict.diff.kind is not SchemaChangeKind.BREAKING:
        return SchemaTool(spec=approved, run=tool.run, upstream=upstream_of(tool))
    reason = f"its definition has changed upstream and {_WHY[state]} {_command(tool)}."
    return make_unavailable(tool, reason, spec=approved or spec_of(pinned))


def withhold_new(item: ListedDefinition, *, state: State) -> Tool:
    """The tool while nobody has approved it: of what its upstream says, nothing is shown."""
    reason = f"it is new upstream and {_WHY_NEW[state]} {_command(item.tool)}."
    return make_unavailable(item.tool, reason)


def _command(tool: Tool) -> str:
    source, action = split_wire_name(tool.spec.name)
    return f"'pegboard pins approve {source} {action}'"


def make_unavailable(tool: Tool, reason: str, *, spec: ToolSpec | None = None) -> Tool:
    """The tool as one that cannot be used now.

    Args:
        tool: Whose place on the board it takes.
        reason: Why, and what to do.
        spec: What may be shown of it; None for its name alone.
    """
    name = tool.spec.name

    async def run(_arguments: Mapping[str, Any], _ctx: Any) -> Any:
        raise SourceUnavailable(f"'{name}' cannot be used: {reason}")

    shown = spec or ToolSpec(name=name, input_schema={"type": "object"})
    kept = {field: getattr(tool.spec, field) for field in (*_FIXED, "action", "id", "version")}
    return SchemaTool(spec=shown.replace(**kept, unavailable=reason), run=run)


def _find_approved_spec(item: ListedDefinition, pinned: Definition) -> ToolSpec | None:
    """The board's own spec with what was approved in place of what is new.

    None where the operator has changed a schema that changed: the words of both are in it.
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

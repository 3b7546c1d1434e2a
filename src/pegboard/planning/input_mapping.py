"""Giving each input of a step a value: from the params, or from what an earlier step gives."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from pegboard.core.tool import JsonSchema, ToolSpec
from pegboard.graphs.checks.data import may_be_read
from pegboard.graphs.expressions.references import Reference
from pegboard.schemas.compatibility import Fit, schema_fits
from pegboard.schemas.subschema import resolve_ref

_MAX_REFS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSource:
    """A value that a step could be given.

    Attributes:
        path: `$.params.url` or `$.steps.fetch.output.text`.
        name: What it is called there; empty for a whole output.
        schema: What it looks like.
        step: The step that gives it; empty for a param.
    """

    path: str
    name: str
    schema: Any
    step: str = ""


_Found: TypeAlias = tuple[ValueSource, str]
"""A value, and why it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputMapping:
    """The inputs of one step.

    Attributes:
        input: Argument to path.
        inferred: Argument to why it was wired like this.
        steps: The steps that it takes something from, in order.
        missing: Required arguments that nothing gives.
        unfit: Argument to why the param of its name cannot be its value.
    """

    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inferred: Mapping[str, str] = field(default_factory=dict[str, str])
    steps: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def fit(self) -> float:
        """Which share of the arguments that were looked for has a value."""
        wanted = len(self.input) + len(self.missing)
        return 1.0 if wanted == 0 else len(self.input) / wanted


def params_given(schema: JsonSchema) -> list[ValueSource]:
    """Every param as something to give."""
    return [
        ValueSource(path=Reference("params", (name,)).text, name=name, schema=_within(schema, part))
        for name, part in resolve_root_ref(schema).get("properties", {}).items()
    ]


def outputs_given(step: str, spec: ToolSpec) -> list[ValueSource]:
    """The output of a step, whole and by its properties."""
    schema = spec.output_schema
    if schema is None:
        return []
    keys = (step, "output")
    whole = ValueSource(path=Reference("steps", keys).text, name="", schema=schema, step=step)
    parts = [
        ValueSource(
            path=Reference("steps", (*keys, name)).text,
            name=name,
            schema=_within(schema, part),
            step=step,
        )
        for name, part in resolve_root_ref(schema).get("properties", {}).items()
    ]
    return [*parts, whole]


def map_inputs(
    spec: ToolSpec,
    givers: Sequence[ValueSource],
    *,
    given: Mapping[str, Any] | None = None,
    is_whole: bool = True,
) -> InputMapping:
    """Wire the inputs of a tool.

    A value of the same name that surely or probably fits is taken; an optional input takes
    nothing else. A required one takes what alone fits surely by its type, the latest step's first,
    unless that has the name of another input or would be given to two.

    Args:
        spec: The tool.
        givers: What there is, the params first, then the steps from the earliest to the latest.
        given: Inputs of the request; they are not changed.
        is_whole: Whether all that the tool needs to have run is among the steps; where something is
            not, what it would have given is not guessed by type from others.
    """
    schema = spec.input_schema
    node = resolve_root_ref(schema)
    properties: Mapping[str, Any] = node.get("properties", {})
    required = frozenset(node.get("required", ()))
    values: dict[str, Any] = dict(given or {})
    wanted = {
        name: _within(schema, part) for name, part in properties.items() if name not in values
    }
    named = {name: _by_name(name, part, givers) for name, part in wanted.items()}
    unfit = {
        name: reason
        for name, part in wanted.items()
        if named[name] is None and (reason := _why_unfit(name, part, givers))
    }
    left = [name for name in wanted if name in required and named[name] is None]
    typed = _share_by_type(
        {name: wanted[name] for name in left if is_whole and name not in unfit},
        _unused_values(givers, properties, values),
    )
    found = {name: pair for name in wanted if (pair := named[name] or typed.get(name))}
    return InputMapping(
        input=values | {name: giver.path for name, (giver, _) in found.items()},
        inferred={name: why for name, (_, why) in found.items()},
        steps=tuple(dict.fromkeys(giver.step for giver, _ in found.values() if giver.step)),
        missing=tuple(name for name in left if name not in found),
        unfit=unfit,
    )


def share_of_inputs(spec: ToolSpec, arguments: Mapping[str, Any]) -> float:
    """Which share of the required and the given arguments of a tool are both, by name."""
    node = resolve_root_ref(spec.input_schema)
    required = set(node.get("required", ()))
    unknown = set[str]()
    if node.get("additionalProperties") is False:
        unknown = arguments.keys() - node.get("properties", {}).keys()
    wanted = len(required) + len(unknown)
    return len(required & arguments.keys()) / wanted if wanted else 1.0


def is_named(argument: str, givers: Sequence[ValueSource]) -> bool:
    """Whether one of these has the argument's name."""
    return any(_alike(giver.name, argument) for giver in givers)


def _by_name(name: str, wanted: Any, givers: Sequence[ValueSource]) -> _Found | None:
    """A value of this name that may fit; else a param whose text a call may read as it."""
    alike = [item for item in (*_params(givers), *_latest_first(givers)) if _alike(item.name, name)]
    for giver in alike:
        fit = schema_fits(giver.schema, wanted, closed=True)
        if not fit.is_impossible:
            return giver, f"same name{_sureness(fit)}"
    for giver in _params(alike):
        if may_be_read(giver.schema, wanted):
            return giver, "same name; whether its text fits shows at run time"
    return None


def _why_unfit(name: str, wanted: Any, givers: Sequence[ValueSource]) -> str:
    """Why the param of this name cannot be its value; empty when there is no such param."""
    for giver in _params(givers):
        if _alike(giver.name, name):
            return str(schema_fits(giver.schema, wanted, closed=True))
    return ""


def _unused_values(
    givers: Sequence[ValueSource], names: Iterable[str], values: Mapping[str, Any]
) -> list[ValueSource]:
    """What is not given to an input yet, and has the name of none."""
    used = frozenset(item for item in values.values() if isinstance(item, str))
    taken = frozenset(map(_plain, names))
    return [item for item in givers if item.path not in used and _plain(item.name) not in taken]


def _share_by_type(wanted: Mapping[str, Any], givers: Sequence[ValueSource]) -> dict[str, _Found]:
    """What each input takes by its type; what two would take is given to neither."""
    found = {name: pair for name, part in wanted.items() if (pair := _by_type(part, givers))}
    takers = Counter(giver.path for giver, _ in found.values())
    return {name: pair for name, pair in found.items() if takers[pair[0].path] == 1}


def _by_type(wanted: Any, givers: Sequence[ValueSource]) -> _Found | None:
    """What alone fits surely: in the latest step that has such a value, else among the params."""
    by_step: dict[str, list[ValueSource]] = {}
    for giver in _latest_first(givers):
        by_step.setdefault(giver.step, []).append(giver)
    for step, offered in by_step.items():
        certain = [item for item in offered if _is_certain(item, wanted)]
        if len(certain) == 1:
            return certain[0], f"the only value of '{step}' whose type fits"
    certain = [item for item in _params(givers) if _is_certain(item, wanted)]
    if len(certain) == 1:
        return certain[0], "the only param whose type fits"
    return None


def _is_certain(giver: ValueSource, wanted: Any) -> bool:
    return _says_a_type(wanted) and schema_fits(giver.schema, wanted, closed=True).is_certain


def _says_a_type(schema: Any) -> bool:
    """Whether a schema restricts its values; one that accepts all would accept the first value."""
    restricting = ("type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "properties")
    return isinstance(schema, Mapping) and any(key in schema for key in restricting)


def _sureness(fit: Fit) -> str:
    return " and type" if fit.is_certain else "; whether the type fits shows at run time"


def _params(givers: Sequence[ValueSource]) -> Iterator[ValueSource]:
    return (item for item in givers if not item.step)


def _latest_first(givers: Sequence[ValueSource]) -> Iterator[ValueSource]:
    return (item for item in reversed(givers) if item.step)


def _alike(one: str, other: str) -> bool:
    return bool(one) and _plain(one) == _plain(other)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def resolve_root_ref(schema: JsonSchema) -> JsonSchema:
    """Where the properties stand: a schema may be no more than a reference to a definition."""
    node: Any = schema
    for _ in range(_MAX_REFS):
        if not isinstance(node, Mapping) or "properties" in node:
            break
        reference = cast("Mapping[str, Any]", node).get("$ref")
        if not isinstance(reference, str):
            break
        node = resolve_ref(schema, reference)
    return cast("JsonSchema", node) if isinstance(node, Mapping) else {}


def _within(schema: JsonSchema, part: Any) -> Any:
    """A part of a schema that can stand alone: with the definitions that it may refer to."""
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    if not definitions or not isinstance(part, Mapping):
        return part
    return definitions | dict(cast("Mapping[str, Any]", part))

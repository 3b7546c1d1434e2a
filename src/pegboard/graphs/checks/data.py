"""Paths, conditions and inputs: whether what a node is given can be what it takes."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from pegboard.core.graph import Node
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest, PegboardError, ToolArgumentError
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.checks.type_inference import GraphTypes
from pegboard.graphs.expressions.conditions import compile_condition
from pegboard.graphs.expressions.references import (
    Reference,
    is_path,
    literal,
    parse_reference,
    references,
    resolve,
)
from pegboard.schemas.compatibility import Fits, schema_fits
from pegboard.tools.schema_arguments import SchemaArguments

_SCALARS = frozenset({"integer", "number", "boolean", "array", "object"})


def path_faults(look: GraphTypes, value: Any, node: Node | None, place: str) -> Iterator[Fault]:
    """Every path within a value that is none, or leads to nothing."""
    for inner, path in references(value):
        dot = "." if inner and not inner.startswith("[") else ""
        where = f"{place}{dot}{inner}"
        try:
            reference = parse_reference(path)
        except InvalidRequest as error:
            yield Fault(code="path_malformed", place=where, message=str(error))
            continue
        fault = look.reference_fault(reference, node, where)
        if fault is not None:
            yield fault


def condition_faults(look: GraphTypes, text: str, node: Node | None, place: str) -> Iterator[Fault]:
    """What is wrong with a condition: that it does not compile, is none, or asks for nothing."""
    if not text:
        return
    try:
        condition = compile_condition(text)
    except InvalidRequest as error:
        yield Fault(code="condition_invalid", place=place, message=str(error))
        return
    if not condition.can_be_boolean:
        message = f"A condition is true or false, and '{text}' gives a {condition.kind}."
        yield Fault(code="condition_not_boolean", place=place, message=message)
    for mention in condition.mentions:
        reference = Reference(mention.root, mention.keys)
        fault = look.reference_fault(reference, node, place)
        if fault is not None and not (mention.asked and fault.code == "path_dangling"):
            yield fault
        alone = reference.text.removeprefix("$.") == text.strip()
        if alone and fault is None and not _can_be_boolean(look, reference, node):
            message = f"A condition is true or false, and {reference.text} never is."
            yield Fault(code="condition_not_boolean", place=place, message=message)


def input_faults(
    look: GraphTypes,
    given: Mapping[str, Any],
    node: Node,
    place: str,
    *,
    wanted: JsonSchema,
    name: str,
) -> Iterator[Fault]:
    """Whether an input fits the schema of what takes it, as far as a schema can tell."""
    properties = cast("Mapping[str, Any]", wanted.get("properties") or {})
    for missing in cast("list[str]", wanted.get("required") or []):
        if missing not in given:
            message = f"'{name}' needs '{missing}', and nothing gives it."
            yield Fault(code="input_missing", place=f"{place}.{missing}", message=message)
    for key, value in given.items():
        where = f"{place}.{key}"
        if key not in properties:
            if _is_closed(wanted):
                known = ", ".join(list(properties)[:8]) or "nothing"
                message = f"'{name}' takes no '{key}'; it takes {known}."
                yield Fault(code="input_unknown", place=where, message=message)
            continue
        origin = look.origin(value)
        seen = None if origin is None else (*origin, id(wanted), key)
        if seen is not None and look.fitting.get(seen) is wanted:
            continue
        faults = list(_value_faults(look, value, node, where, key=key, wanted=wanted, name=name))
        if seen is not None and not faults:
            look.fitting[seen] = wanted
        yield from faults


def may_be_read(given: Any, wanted: Any) -> bool:
    """Whether a text may say what is wanted: then arguments are read as models write them."""
    if not (isinstance(given, Mapping) and isinstance(wanted, Mapping)):
        return False
    text, schema = cast("Mapping[str, Any]", given), cast("Mapping[str, Any]", wanted)
    if text.get("type") != "string" or "enum" in text:
        return False
    types = schema.get("type")
    kinds = set(cast("list[str]", types)) if isinstance(types, list) else {types}
    choices = cast("list[Any]", schema.get("anyOf") or schema.get("oneOf") or [])
    return bool(kinds & _SCALARS) or any(may_be_read(given, choice) for choice in choices)


def _value_faults(
    look: GraphTypes, value: Any, node: Node, place: str, *, key: str, wanted: JsonSchema, name: str
) -> Iterator[Fault]:
    if not any(True for _ in references(value)):
        yield from _literal_faults(value, place, key=key, wanted=wanted, name=name)
        return
    schema = _property_of(wanted, key)
    given = look.schema_of(value, node)
    if schema is None or not given:
        return
    fit = schema_fits(given, schema, closed=True)
    if fit.answer is Fits.YES or _fits_as_known(look, value, key=key, wanted=wanted, name=name):
        return
    what = value if is_path(value) else "what it is given"
    if fit.answer is Fits.NO and not may_be_read(given, schema):
        message = f"{what} cannot feed '{key}' of '{name}': {fit}."
        yield Fault(code="input_mismatch", place=place, message=message)
    elif is_path(value):
        message = f"{what} may not fit '{key}' of '{name}': {fit}."
        yield Fault(code="input_doubtful", place=place, message=message, is_note=True)


def _fits_as_known(
    look: GraphTypes, value: Any, *, key: str, wanted: JsonSchema, name: str
) -> bool:
    """Whether it fits with what is known of the params: then only other params can be a doubt."""
    properties = cast("Mapping[str, Any]", look.graph.params.get("properties") or {})
    given = {
        param: cast("Mapping[str, Any]", node)["default"]
        for param, node in properties.items()
        if isinstance(node, Mapping) and "default" in node
    }
    names = look.terms.env
    env: Mapping[str, Any] = {}
    if isinstance(names, Mapping):
        env = cast("Mapping[str, Any]", names)
    try:
        known = resolve(value, {"params": given, "env": env, "steps": {}})
    except InvalidRequest:  # it reads what only a run knows
        return False
    return not any(_mismatches(known, "", key=key, wanted=wanted, name=name))


def _literal_faults(
    value: Any, place: str, *, key: str, wanted: JsonSchema, name: str
) -> Iterator[Fault]:
    yield from _mismatches(literal(value), place, key=key, wanted=wanted, name=name)


def _mismatches(
    value: Any, place: str, *, key: str, wanted: JsonSchema, name: str
) -> Iterator[Fault]:
    schema = {
        **{word: wanted[word] for word in ("$defs", "definitions", "$schema") if word in wanted},
        "type": "object",
        "properties": {key: wanted["properties"][key]},
    }
    try:
        SchemaArguments(name, schema)({key: value})
    except ToolArgumentError as error:
        at = place.removesuffix(key)
        for problem in error.problems:
            where = f"{at}{problem.path}" if problem.path else place
            yield Fault(code="input_invalid", place=where, message=f"'{name}': {problem.message}")
    except PegboardError as error:
        yield Fault(code="schema_broken", place=place, message=str(error))


def _property_of(wanted: JsonSchema, key: str) -> JsonSchema | None:
    node = wanted["properties"][key]
    if not isinstance(node, Mapping):
        return None
    brought = {word: wanted[word] for word in ("$defs", "definitions") if word in wanted}
    return {**brought, **cast("Mapping[str, Any]", node)}


def _is_closed(schema: JsonSchema) -> bool:
    return False in (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))


def _can_be_boolean(look: GraphTypes, reference: Any, node: Node | None) -> bool:
    schema = look.infer_path(reference, node).schema
    return schema is None or schema_fits(schema, {"type": "boolean"}).answer is not Fits.NO

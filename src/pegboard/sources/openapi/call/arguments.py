"""Plans the arguments of an operation: their names, their schema and their defaults.

An argument has the name of its parameter. Where several share a name, the first in the order path,
query, header, cookie, body keeps it, and the others get their location as a prefix: `query_id`,
`body_id`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.text.truncate import truncate
from pegboard.sources.openapi.call.body_arguments import BodyField, BodyPlan, plan_body
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import LOCATIONS, Operation, OperationParameter
from pegboard.sources.openapi.schema.translator import Schema, SchemaTranslator

_UNFIT = re.compile(r"[^a-zA-Z0-9_.-]+")
_MAX_NAME = 64
_MAX_DESCRIPTION = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One parameter with its argument name."""

    name: str
    parameter: OperationParameter


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentPlan:
    """The arguments of one operation, and how they map to a request.

    Attributes:
        fields: Arguments that are properties of the body, by argument name.
        body_argument: The argument that is the body as a whole; empty when there is none.
        schema: The closed schema of all arguments.
        values: Values that are sent unless a call gives others, hidden arguments included.
    """

    arguments: tuple[Argument, ...]
    body: BodyPlan | None
    schema: Schema
    fields: Mapping[str, BodyField] = field(default_factory=dict[str, BodyField])
    body_argument: str = ""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSettings:
    """What the operator configured for the arguments of one operation.

    Attributes:
        hidden: Sent with this value and not visible to callers; None sends nothing.
        defaults: Sent when a call leaves them out.
        content_type: The content type of the body; empty for the best one.
        taken: Parameters set by credentials and fixed headers: location and name in lower case.
    """

    hidden: Mapping[str, Any] = field(default_factory=dict[str, Any])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    content_type: str = ""
    taken: Collection[tuple[str, str]] = ()


def plan_arguments(
    operation: Operation, schemas: SchemaTranslator, settings: ArgumentSettings
) -> ArgumentPlan:
    """Plan the arguments of an operation."""
    wanted = [
        parameter
        for parameter in operation.parameters
        if (parameter.location, parameter.name.lower()) not in settings.taken
    ]
    wanted.sort(key=lambda parameter: LOCATIONS.index(parameter.location))
    names = _NameAllocator()
    arguments = tuple(
        Argument(name=names.allocate(parameter.name, parameter.location), parameter=parameter)
        for parameter in wanted
    )
    properties: dict[str, Schema] = {}
    required: list[str] = []
    for argument in arguments:
        properties[argument.name] = _parameter_schema(argument.parameter, schemas)
        if argument.parameter.required:
            required.append(argument.name)
    body = plan_body(operation.body, schemas, settings.content_type) if operation.body else None
    fields: dict[str, BodyField] = {}
    body_argument = ""
    if body is not None and body.fields is not None:
        for one in body.fields:
            name = names.allocate(one.name, "body")
            fields[name] = one
            properties[name] = one.schema
            if one.required:
                required.append(name)
    elif body is not None:
        body_argument = names.allocate("body", "body")
        properties[body_argument] = body.schema
        if body.required:
            required.append(body_argument)
    shown = _visible_schema(properties, required, settings)
    return ArgumentPlan(
        arguments=arguments,
        body=body,
        fields=fields,
        body_argument=body_argument,
        schema=schemas.make_standalone(shown),
        values={
            name: value
            for name, value in {**settings.defaults, **settings.hidden}.items()
            if name in properties and value is not None
        },
    )


def unknown_arguments(made: ArgumentPlan, settings: ArgumentSettings) -> list[str]:
    """Return the names that the operator configured and the operation does not have."""
    known = {argument.name for argument in made.arguments} | made.fields.keys()
    return sorted({*settings.hidden, *settings.defaults} - known - {made.body_argument})


def _visible_schema(
    properties: dict[str, Schema], required: Sequence[str], settings: ArgumentSettings
) -> Schema:
    visible = {name: one for name, one in properties.items() if name not in settings.hidden}
    for name, value in settings.defaults.items():
        if name in visible:
            visible[name] = {**visible[name], "default": value}
    schema: Schema = {"type": "object", "properties": visible, "additionalProperties": False}
    needed = [name for name in required if name in visible and name not in settings.defaults]
    return {**schema, "required": needed} if needed else schema


def _parameter_schema(parameter: OperationParameter, schemas: SchemaTranslator) -> Schema:
    place = parameter.schema if parameter.schema.node is not None else LocatedNode(node={})
    schema = dict(schemas.translate(place))
    if parameter.location == "path" and schema.get("type") == "string":
        schema["minLength"] = max(1, schema.get("minLength", 1))
    if parameter.description.strip():
        schema["description"] = truncate(parameter.description.strip(), _MAX_DESCRIPTION)
    if parameter.deprecated:
        schema["deprecated"] = True
    if parameter.fault:
        schema["$comment"] = f"{schema.get('$comment', '')} {parameter.fault}".strip()
    return schema


class _NameAllocator:
    """Gives each argument a unique name that model providers accept."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def allocate(self, name: str, location: str) -> str:
        legible = name
        if _UNFIT.search(name):
            legible = _UNFIT.sub("_", name).strip("_")
        legible = legible[:_MAX_NAME] or "value"
        found = legible
        if found in self._taken:
            found = f"{location}_{legible}"[:_MAX_NAME]
        count = 1
        while found in self._taken:
            count += 1
            found = f"{location}_{legible}"[: _MAX_NAME - 4] + f"_{count}"
        self._taken.add(found)
        return found

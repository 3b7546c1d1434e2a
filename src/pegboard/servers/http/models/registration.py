"""Request models of registrations, in the form of RFC-0003."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from fastapi.exceptions import RequestValidationError
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from pegboard.concurrency.cooperative import iterate_cooperatively
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.models import RetryPolicyEntry, ToolEntry
from pegboard.schemas.shorthand_schema import WORDS, schema_of
from pegboard.schemas.validator import compile_schema
from pegboard.servers.http.models.requests import integral
from pegboard.servers.http.problem_details import MAX_FAULTS

MAX_REGISTRATIONS = 20_000
_DAY_MS = 24 * 3600 * 1000
_MAX_MEMORY_MB = 16_384
_WORD: dict[str, Any] = {"enum": list(WORDS)}
_PROPERTY: dict[str, Any] = {
    "type": ["object", "boolean"],
    "properties": {
        "type": {"enum": ["string", "integer", "number", "boolean", "object", "array"]},
    },
}
_SCHEMA: dict[str, Any] = {
    "description": "JSON Schema 2020-12 of an object, or the shorthand `{query: string}`. Further "
    "keywords of JSON Schema are accepted too.",
    "anyOf": [
        {"type": "null"},
        {
            "title": "shorthand",
            "type": "object",
            "additionalProperties": {
                "anyOf": [_WORD, {"type": "array", "items": _WORD, "minItems": 1, "maxItems": 1}]
            },
            "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$"},
        },
        {
            "title": "JSON Schema",
            "type": "object",
            "properties": {
                "type": {"const": "object"},
                "properties": {"type": "object", "additionalProperties": _PROPERTY},
                "required": {
                    "type": "array",
                    "items": {"type": "string"},
                    "uniqueItems": True,
                },
            },
            "required": ["properties"],
        },
    ],
}

_CHECK = compile_schema("the registration", _SCHEMA)


def _check_schema(value: Any) -> Any:
    """Check that a schema is a shorthand one level deep, or a JSON Schema."""
    given: Any = value
    if isinstance(given, dict):
        try:
            schema_of(cast("dict[str, Any]", given), "")
        except ConfigError as error:
            faults = list(_wrong(cast("dict[str, Any]", given)))
            raise ValidationError.from_exception_data("schema", faults) from error
    if not _CHECK.is_valid(value):
        raise ValueError(
            "write a shorthand such as {query: string}, or a JSON Schema with 'type: object'"
        )
    return value


def _wrong(given: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
    """An error for each field of a shorthand with an unknown type."""
    for name, item in given.items():
        try:
            schema_of({name: item}, "")
        except ConfigError as error:
            text = error.message.removeprefix(f".{name}: ").removeprefix(
                "."
            )  # or it names an inner
            kind = PydanticCustomError("value_error", "{text}", {"text": text})
            yield InitErrorDetails(type=kind, loc=(name,), input=item)


_Schema = Annotated[dict[str, Any] | None, BeforeValidator(_check_schema), WithJsonSchema(_SCHEMA)]
_Words = Annotated[str, Field(max_length=200)]
_List = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=100)
]
_Place = Annotated[str, Field(max_length=2000)]


class RetryPolicy(RetryPolicyEntry, frozen=True):
    """The retry policy of RFC-0003, with strict JSON types."""

    max_retries: Annotated[int, Field(ge=0, le=100), Strict(), BeforeValidator(integral)] = 3
    backoff_ms: Annotated[float, Strict(), Field(ge=0, le=_DAY_MS)] = 1000


class Registration(ToolEntry, frozen=True):
    """A tool in the form of RFC-0003.

    Fields that are needed to run it are optional: a tool that cannot run is listed as unavailable.
    """

    tool_id: Annotated[
        str,
        Field(
            description="`{slug}_v{major}`.",
            pattern=r"^[a-zA-Z_][a-zA-Z0-9_-]*$",
            min_length=1,
            max_length=64,
        ),
    ]
    name: Annotated[_Words, Field(description="Display name.")] = ""
    description: Annotated[str, Field(max_length=20_000)] = ""
    type: Annotated[
        Literal[
            "PythonFunction",
            "LangChainTool",
            "MCPTool",
            "RestAPI",
            "LocalScript",
            "Subagent",
            "Database",
            "KnowledgeBase",
            "Federated",
            "Workflow",
        ],
        Field(description="The kind of source that runs it."),
    ]
    capabilities: _List = ()
    supported_tasks: _List = ()
    examples: Annotated[
        tuple[dict[str, Any], ...],
        Field(
            max_length=20,
            description="Arguments of typical calls, which models are shown; they fit the "
            "input schema.",
        ),
    ] = ()
    tags: _List = ()
    category: _Words = ""
    effect: Annotated[
        Literal["read", "write", "admin"] | None,
        Field(description="By default that of its source, else `write`."),
    ] = None
    input_schema: _Schema = None
    output_schema: _Schema = None
    dependencies: _List = ()
    status: Literal["", "active", "deprecated", "disabled"] = ""
    version: Annotated[
        str, Field(max_length=64, pattern=r"^(\d+(\.\d+){0,2}([-+.][0-9A-Za-z.-]+)?)?$")
    ] = ""
    timeout_ms: Annotated[float | None, Strict(), Field(ge=0, le=_DAY_MS)] = None
    destructive: Annotated[
        bool | None,
        Strict(),
        Field(
            description="`true` for a tool that may destroy or overwrite something; that one does "
            "not is for the operator to say."
        ),
    ] = None
    idempotent: Annotated[bool | None, Strict()] = None
    retry_policy: RetryPolicy | None = None
    import_: Annotated[
        _Place,
        Field(alias="import", description="`package.module:name` (PythonFunction, LangChainTool)."),
    ] = ""
    script_path: Annotated[_Place, Field(description="The script (LocalScript).")] = ""
    memory_mb: Annotated[
        Annotated[int, Strict(), Field(ge=16, le=_MAX_MEMORY_MB)] | None,
        BeforeValidator(integral),
        Field(description="Memory of each process of a script that does not say it (LocalScript)."),
    ] = None
    url: Annotated[_Place, Field(description="The address (RestAPI).")] = ""
    method: Annotated[_Words, Field(description="The method (RestAPI).")] = ""
    server: Annotated[
        _Place,
        Field(
            description="The source that is an MCP server, or the address of one (MCPTool); the "
            "address of the OpenAPI document that describes it (RestAPI)."
        ),
    ] = ""
    tool: Annotated[
        str,
        Field(
            max_length=1000,
            description="Its name on the server (MCPTool) or in the document (RestAPI).",
        ),
    ] = ""
    pin: Annotated[
        str,
        Field(
            pattern="^([0-9a-f]{64})?$",
            description="Digest of the tool's definition on a server given by address: while the "
            "definition differs, calls are refused. Marketplaces set it.",
        ),
    ] = ""

    def definition(self) -> dict[str, Any]:
        """The definition that is stored: the given fields only."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _as_it_is(value: Any, _read: ValidatorFunctionWrapHandler) -> Any:
    """Skip validation here: `definitions_of` validates thousands without blocking the loop."""
    return value


class BulkBody(BaseModel):
    """Many registrations, which succeed or fail together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tools: Annotated[
        list[Annotated[Registration, WrapValidator(_as_it_is)]], Field(max_length=MAX_REGISTRATIONS)
    ]


async def definitions_of(tools: Sequence[Any]) -> list[dict[str, Any]]:
    """Validate many registrations, and return the definitions that are stored.

    Raises:
        RequestValidationError: Some are invalid; has their paths.
    """
    found: list[dict[str, Any]] = []
    faults: list[Any] = []
    async for index, tool in iterate_cooperatively(enumerate(tools)):
        try:
            found.append(Registration.model_validate(tool).definition())
        except ValidationError as error:
            faults += [
                {**item, "loc": ("body", "tools", index, *item["loc"])}
                for item in error.errors(include_url=False, include_input=False)
            ]
            if len(faults) >= MAX_FAULTS:
                break
    if faults:
        raise RequestValidationError(faults, body={"tools": tools})
    return found

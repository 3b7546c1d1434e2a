"""The description of a script: the keys of a `.tool.yaml` file or a `/// tool` block."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import Effect
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.schemas.shorthand_schema import schema_of
from pegboard.schemas.validator import compile_schema
from pegboard.tools.yaml_positions import YamlDocument, read_yaml

Outcome = Literal["ok", "invalid", "unavailable", "failed"]
Argument = str | tuple[str, ...]

_MAX_NODES = 20_000
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_FLAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_OPEN = frozenset({"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"})

_WORDS = {
    "Input should be a valid tuple": "should be a list",
    "Input should be a valid dictionary": "should be a mapping",
    "Input should be ": "should be ",
}
"""Words of pydantic's messages, and the words for YAML."""


class Description(BaseModel):
    """One script as a tool.

    ```yaml
    description: Count the words of a text.
    effect: read
    input_schema:
      type: object
      properties: {text: {type: string}}
      required: [text]
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    title: str = ""
    description: Annotated[str, Field(min_length=1)]
    category: str = "script"
    effect: Effect = Effect.WRITE
    destructive: bool | None = None
    idempotent: bool | None = None
    cacheable: bool = False
    cache_ttl: Annotated[float, Field(gt=0)] = 60.0
    version: str = "1.0.0"
    tags: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    retries: Annotated[int, Field(ge=0, le=100)] = 0
    concurrency: Annotated[int | None, Field(ge=1)] = None
    input_schema: Mapping[str, Any] = {}
    output_schema: Mapping[str, Any] | None = None

    command: tuple[str, ...] = ()
    input: Literal["json", "flags", "template"] = "json"
    arguments: tuple[Argument, ...] = ()
    output: Literal["json", "text"] = "json"
    artifacts: bool = False
    exit_codes: Mapping[Annotated[int, Field(ge=0, le=255)], Outcome] = {}
    show_stderr: bool = False

    network: bool = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    environment: tuple[str, ...] = ()
    timeout: Annotated[float | None, Field(gt=0, le=86_400)] = None
    cpu_seconds: Annotated[float | None, Field(gt=0)] = None
    memory_mb: Annotated[int | None, Field(ge=16, le=1_048_576)] = None
    processes: Annotated[int | None, Field(ge=1, le=10_000)] = None
    output_bytes: Annotated[int | None, Field(ge=1024, le=2**28)] = None

    @property
    def properties(self) -> Mapping[str, Any]:
        """The arguments that the input schema names."""
        named: Any = self.input_schema.get("properties")
        return cast("dict[str, Any]", named) if isinstance(named, dict) else {}

    @field_validator("input_schema", "output_schema", mode="before")
    @classmethod
    def _read_shorthand(cls, given: Any) -> Any:
        """Take `{query: string}` where a JSON Schema is expected, as registrations do."""
        if not given or not isinstance(given, Mapping):
            return given
        schema = cast("Mapping[str, Any]", given)
        are_types = all(isinstance(value, (str, list, Mapping)) for value in schema.values())
        if are_types and list(schema) != ["type"]:
            try:
                return schema_of(schema, "the shorthand")
            except ConfigError as error:
                raise ValueError(error.message) from error
        return schema

    @model_validator(mode="after")
    def _arguments_and_input_agree(self) -> Self:
        if self.input == "template" and not self.arguments:
            raise ValueError("input: template needs 'arguments', the command line as a list")
        if self.arguments and self.input != "template":
            raise ValueError("'arguments' are for 'input: template'")
        if self.input != "json":
            self._check_names()
        return self

    def _check_names(self) -> None:
        """Check that the command line has a place for each argument."""
        loose = self.input_schema.keys() & _OPEN
        if loose or self.input_schema.get("additionalProperties", False) is not False:
            key = min(loose, default="additionalProperties")
            raise ValueError(
                f"input: {self.input} needs an input_schema that names all its properties; "
                f"take '{key}' away, or take the arguments as JSON"
            )
        if self.input == "flags":
            odd = [name for name in self.properties if not _FLAG.fullmatch(name)]
            if odd:
                raise ValueError(f"'{odd[0]}' cannot be a flag: letters, digits, '_', '.' and '-'")
            return
        named = {name for item in self.arguments for name in placeholders(item)}
        unknown = sorted(named - self.properties.keys())
        if unknown:
            raise ValueError(f"'{{{unknown[0]}}}' is not a property of the input_schema")
        unused = sorted(self.properties.keys() - named)
        if unused:
            raise ValueError(f"the property '{unused[0]}' is not used in 'arguments'")


def placeholders(argument: Argument) -> list[str]:
    """The names in braces; `{{` and `}}` are literal braces."""
    parts = (argument,) if isinstance(argument, str) else argument
    found = (match[1] for part in parts for match in _PLACEHOLDER.finditer(part))
    return [name for name in found if name is not None]


def fill_template(part: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of an entry; braces within values are left alone."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return match[0][0] if name is None else values[name]

    return _PLACEHOLDER.sub(value, part)


def parse_document(text: str, file: str, *, first_line: int = 1) -> YamlDocument:
    """The YAML of a description.

    Raises:
        SourceUnavailable: It is not YAML, or too large; names the line.
    """
    try:
        return read_yaml(text, file, first_line=first_line, max_nodes=_MAX_NODES)
    except ConfigError as error:
        raise SourceUnavailable(error.message) from error


def read_description(located: YamlDocument) -> Description:
    """Validate a description.

    Raises:
        SourceUnavailable: It is invalid; names the file, the line and the fault.
    """
    said: object = located.value
    if not isinstance(said, Mapping):
        raise SourceUnavailable(
            f"{located.at(())}: a description is a mapping: 'description: ...', 'effect: read', ..."
        )
    try:
        description = Description.model_validate(located.value)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise SourceUnavailable(_describe_error(fault, located)) from error
    for key, schema in (
        ("input_schema", description.input_schema),
        ("output_schema", description.output_schema),
    ):
        _check_schema(key, schema, located)
    return description


def _check_schema(key: str, schema: Mapping[str, Any] | None, located: YamlDocument) -> None:
    if schema is None:
        return
    where = located.at((key,))
    if key == "input_schema" and schema.get("type", "object") != "object":
        raise SourceUnavailable(f"{where}: {key}: arguments are an object: write 'type: object'")
    try:
        compile_schema(key, schema)
    except SourceUnavailable as error:
        raise SourceUnavailable(f"{where}: {error.message}") from error


def _describe_error(fault: Any, located: YamlDocument) -> str:
    """The first fault with its line and, for an unknown key, the nearest known one."""
    place: tuple[str | int, ...] = fault["loc"]
    where = located.at(place)
    name = ".".join(map(str, place))
    if fault["type"] == "extra_forbidden":
        hint = did_you_mean(str(place[-1]), Description.model_fields)
        return f"{where}: unknown key '{name}'{hint and f'; {hint}'}"
    message = str(fault["msg"]).removeprefix("Value error, ")
    for words, ours in _WORDS.items():
        message = message.replace(words, ours)
    if fault["type"] == "missing":
        return f"{where}: '{name}' is missing"
    return f"{where}: {name}: {message}" if name else f"{where}: {message}"

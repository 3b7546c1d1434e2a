"""Configuration of a REST API source."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from pegboard.core.tool import Effect
from pegboard.sources.openapi.auth import Auth, HeaderName, check_one_line, check_placeholders
from pegboard.sources.openapi.document.server_urls import check_base_url, is_url

_MODEL = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)
_ALIASED: ConfigDict = {**_MODEL, "validate_by_name": True, "validate_by_alias": True}
_Names = tuple[str, ...]
_MIN_REFRESH_SECONDS = 1.0
_HTTP_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})


class OperationFilter(BaseModel):
    """Operations that match all of the given lists; in names and paths `*` is a wildcard."""

    model_config = _MODEL
    tags: _Names = ()
    paths: Annotated[_Names, Field(description="Paths of the document: `/orders/*`")] = ()
    methods: _Names = ()
    operations: Annotated[
        _Names, Field(description="Operation ids, or names of tools without their source")
    ] = ()

    @field_validator("methods")
    @classmethod
    def _known_methods(cls, methods: _Names) -> _Names:
        lower = tuple(method.lower() for method in methods)
        unknown = [method for method in lower if method not in _HTTP_METHODS]
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: write {', '.join(sorted(_HTTP_METHODS))}")
        return lower

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.tags or self.paths or self.methods or self.operations):
            raise ValueError("give tags, paths, methods or operations")
        return self


class PagingOverride(BaseModel):
    """How the pages of an operation follow each other."""

    model_config = _MODEL
    style: Annotated[
        Literal["cursor", "page", "offset", "link"],
        Field(
            description="`cursor` and `link` (the header) come from the response; `page` counts "
            "from 1, `offset` in items from 0"
        ),
    ] = "cursor"
    argument: Annotated[str, Field(description="The argument that chooses the page")] = ""
    next: Annotated[
        str,
        Field(
            description="Dotted path in the response of the cursor or of the next page's URL; for "
            "`page` and `offset`, of a value that is empty or false on the last page"
        ),
    ] = ""
    items: Annotated[
        str,
        Field(description="Dotted path of the list; empty: the response, or its only list"),
    ] = ""
    max_pages: Annotated[
        int,
        Field(ge=1, le=100, description="More than 1: a call may read so many pages at once"),
    ] = 1

    @model_validator(mode="after")
    def _names_its_argument(self) -> Self:
        if self.style in {"page", "offset"} and not self.argument:
            raise ValueError(f"style {self.style} needs an argument")
        return self


class OperationOverride(BaseModel):
    """What the operator changes about some operations."""

    model_config = _MODEL
    name: Annotated[str, Field(description="The name of the tool after `{source}__`")] = ""
    title: str = ""
    description: str = ""
    effect: Effect | None = None
    destructive: Annotated[
        bool | None,
        Field(
            description="Whether it may destroy or overwrite something; by default DELETE does, "
            "and of other operations that write it is unknown, which counts as yes."
        ),
    ] = None
    idempotent: bool | None = None
    timeout: Annotated[float | None, Field(gt=0, le=3600)] = None
    category: str = ""
    tags: _Names = ()
    capabilities: Annotated[
        _Names, Field(description="Capabilities for which plans may choose it")
    ] = ()
    content_type: Annotated[
        str, Field(description="The documented content type of the body to send")
    ] = ""
    defaults: Annotated[
        Mapping[str, Any], Field(description="Values of arguments that a call omits")
    ] = {}
    hidden: Annotated[
        Mapping[str, Any],
        Field(
            repr=False,
            description="Arguments that callers neither see nor set, with the value that is sent; "
            "null sends nothing",
        ),
    ] = {}
    projection: Annotated[
        str, Field(description="JMESPath expression applied to a JSON response")
    ] = ""
    paging: Annotated[
        PagingOverride | None,
        Field(description="How pages follow each other, where the API does not say it itself"),
    ] = None

    @field_validator("projection")
    @classmethod
    def _compiles(cls, projection: str) -> str:
        if projection:
            import jmespath
            from jmespath.exceptions import JMESPathError

            try:
                jmespath.compile(projection)
            except JMESPathError as error:
                raise ValueError(f"not JMESPath: {str(error).partition(chr(10))[0]}") from error
        return projection


class ActionParameter(BaseModel):
    """One parameter of an action."""

    model_config = _ALIASED
    name: Annotated[str, Field(min_length=1)]
    location: Annotated[
        Literal["path", "query", "header", "cookie"] | None,
        Field(alias="in", description="Empty: path if the path has its name, else query"),
    ] = None
    description: str = ""
    required: bool = False
    json_schema: Annotated[
        Mapping[str, Any], Field(alias="schema", description="JSON Schema of its value")
    ] = {"type": "string"}


class ApiAction(BaseModel):
    """One operation written in the configuration, for an API without a document."""

    model_config = _MODEL
    name: Annotated[str, Field(min_length=1)]
    method: str = "get"
    path: Annotated[str, Field(pattern="^/", description="`{name}` is a path parameter")]
    title: str = ""
    description: str = ""
    tags: _Names = ()
    parameters: tuple[ActionParameter, ...] = ()
    body: Annotated[
        Mapping[str, Any] | None, Field(description="JSON Schema of the body; empty for none")
    ] = None
    body_type: Annotated[str, Field(description="Content type of the body")] = "application/json"
    body_required: bool = True

    @field_validator("method")
    @classmethod
    def _known_method(cls, method: str) -> str:
        if method.lower() not in _HTTP_METHODS:
            raise ValueError(f"write one of {', '.join(sorted(_HTTP_METHODS))}")
        return method.lower()


class OpenApiConfig(BaseModel):
    """The `config:` section of a `kind: openapi` source."""

    model_config = _MODEL

    document: Annotated[
        str | Mapping[str, Any] | None,
        Field(
            repr=False,
            title="OpenAPI document",
            description="OpenAPI 3.0, 3.1 or Swagger 2.0: a file relative to the board, an http(s) "
            "URL, the pasted text, or the document itself",
            json_schema_extra={"x-first": True},
        ),
    ] = None
    actions: Annotated[tuple[ApiAction, ...], Field(description="Operations written here")] = ()
    base_url: Annotated[
        str,
        Field(
            title="Address of the API",
            description="The URL that all requests go to; empty: the server of the document",
            json_schema_extra={"x-first": True},
        ),
    ] = ""
    server: Annotated[
        int, Field(ge=0, description="The index of the document's server, from 0")
    ] = 0
    server_variables: Annotated[
        Mapping[str, str], Field(description="Values of the variables in the server's URL")
    ] = {}
    auth: Annotated[
        tuple[Auth, ...], Field(description="One credential, or several in a list")
    ] = ()
    headers: Annotated[
        Mapping[
            HeaderName,
            Annotated[
                SecretStr, AfterValidator(check_one_line), AfterValidator(check_placeholders)
            ],
        ],
        Field(
            description="Headers that go with every request; `{call.id}`, `{call.run_id}`, "
            "`{call.parent_id}`, `{call.tool}` and `{call.idempotency_key}` are replaced by the "
            "call's values, and a header without a value is not sent"
        ),
    ] = {}
    credential_origins: Annotated[
        _Names,
        Field(
            description="Further origins (`https://host`) that receive the credentials, where "
            "single operations have a server of their own"
        ),
    ] = ()
    include: Annotated[
        tuple[OperationFilter, ...], Field(description="Only operations that match one of these")
    ] = ()
    exclude: Annotated[
        tuple[OperationFilter, ...], Field(description="No operation that matches one of these")
    ] = ()
    overrides: Annotated[
        Mapping[str, OperationOverride],
        Field(description="By operation id, with `*` as a wildcard; later entries win"),
    ] = {}
    timeout: Annotated[float, Field(gt=0, le=3600, description="Seconds for one request")] = 30.0
    retries: Annotated[
        int, Field(ge=0, le=10, description="Further attempts where a repetition is safe")
    ] = 2
    max_answer_bytes: Annotated[
        int, Field(ge=1024, le=2**30, description="A longer response is cut")
    ] = 5 * 2**20
    max_document_bytes: Annotated[
        int, Field(ge=1024, le=2**30, description="A larger document is refused")
    ] = 64 * 2**20
    refresh: Annotated[
        float,
        Field(
            ge=0,
            le=30 * 24 * 3600,
            description="Seconds after which a document from a URL is read again; 0: only when "
            "the board is reloaded",
        ),
    ] = 0.0
    promise_outputs: Annotated[
        bool,
        Field(
            description="Publish the documented responses as output schemas, and refuse responses "
            "that violate them"
        ),
    ] = False

    @field_validator("auth", "include", "exclude", mode="before")
    @classmethod
    def _one_is_a_list_of_one(cls, value: object) -> object:
        if isinstance(value, BaseModel):
            return (value,)
        return (cast("Mapping[str, Any]", value),) if isinstance(value, Mapping) else value

    @field_validator("base_url")
    @classmethod
    def _is_a_base(cls, url: str) -> str:
        return check_base_url(url) if url else ""

    @model_validator(mode="after")
    def _has_operations(self) -> Self:
        if self.document is None and not self.actions:
            raise ValueError("give a document, or actions")
        if self.document is None and not self.base_url:
            raise ValueError("actions without a document need a base_url")
        if self.refresh and not (isinstance(self.document, str) and is_url(self.document)):
            raise ValueError("refresh: only a document from a URL is read again; leave it out")
        if 0 < self.refresh < _MIN_REFRESH_SECONDS:
            raise ValueError(f"refresh: write at least {_MIN_REFRESH_SECONDS:g} seconds, or 0")
        if len(self.auth) > 1 and any(item.kind == "none" for item in self.auth):
            raise ValueError("auth: `kind: none` cannot be combined with others")
        if sum(item.kind == "caller" for item in self.auth) > 1:
            raise ValueError("auth: a source takes one credential of its callers")
        return self

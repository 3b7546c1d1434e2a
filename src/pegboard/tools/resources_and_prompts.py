"""`@resource` and `@prompt`: functions that give something to read, or a prompt to fill in."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar, cast, overload

from pegboard.core.context import ToolContext
from pegboard.core.resources_and_prompts import (
    FilledPrompt,
    PromptArgument,
    PromptMessage,
    PromptSpec,
    ResourceSpec,
)
from pegboard.core.result import AudioPart, ImagePart, ResourcePart, TextPart
from pegboard.core.text.uri_templates import match_uri, variable_names
from pegboard.core.wire_names import is_wire_name, wire_name
from pegboard.errors import ToolOutputError, ToolSignatureError
from pegboard.tools.as_tool import as_tool
from pegboard.tools.function_tool import FunctionTool
from pegboard.tools.signatures.docstring import read_docstring

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
MARK = "__pegboard_offer__"


class FunctionResource:
    """A function that gives the contents of a resource, or of all that a template means."""

    def __init__(self, function: Callable[..., Any], spec: ResourceSpec) -> None:
        self.spec = spec
        self._tool = _function_tool(function)
        shown = frozenset(self._tool.spec.input_schema.get("properties", {}))
        named = frozenset(variable_names(spec.uri))
        if shown != named:
            raise ToolSignatureError(
                f"@resource {_name(function)}(): the parameters ({_join_names(shown)}) are not the "
                f"places of '{spec.uri}' ({_join_names(named)})"
            )

    async def read(self, uri: str, ctx: ToolContext[Any], /) -> Sequence[ResourcePart]:
        """Call the function with the places filled in."""
        given = dict(match_uri(self.spec.uri, uri) or {})
        value = await self._tool.run(self._tool.arguments(given), ctx)
        return [_content(item, uri, self.spec.media_type) for item in _items(value)]

    def in_source(self, source: str) -> "FunctionResource":
        """The same as a resource of this source."""
        made = copy(self)
        made.spec = replace(self.spec, source=source)
        return made


class FunctionPrompt:
    """A function that fills in a prompt."""

    def __init__(self, function: Callable[..., Any], spec: PromptSpec) -> None:
        self._tool = _function_tool(function)
        if not is_wire_name(spec.name):
            raise ToolSignatureError(
                f"@prompt {_name(function)}(): '{spec.name}' is not a name: at most 64 letters, "
                "digits, '_' and '-'"
            )
        self.spec = replace(spec, arguments=_arguments(self._tool))

    async def fill(self, arguments: Mapping[str, str], ctx: ToolContext[Any], /) -> FilledPrompt:
        """Call the function."""
        value = await self._tool.run(self._tool.arguments(dict(arguments)), ctx)
        if isinstance(value, FilledPrompt):
            return value
        messages = tuple(_message(item) for item in _items(value))
        return FilledPrompt(messages=messages, description=self.spec.description)

    def in_source(self, source: str) -> "FunctionPrompt":
        """The same as a prompt of this source."""
        made = copy(self)
        action = self.spec.action or self.spec.name
        name = wire_name(source, action)
        made.spec = replace(self.spec, name=name, action=action, source=source)
        return made


def resource(
    uri: str,
    *,
    name: str = "",
    title: str = "",
    description: str = "",
    media_type: str = "",
    tags: tuple[str, ...] = (),
    scopes: tuple[str, ...] = (),
) -> Callable[[AnyFunction], AnyFunction]:
    """Make a function a resource; calling it still calls it.

    ```python
    @resource("docs://{page}", media_type="text/markdown")
    def handbook(page: str) -> str:
        \"\"\"A page of the handbook.\"\"\"
        return PAGES[page]
    ```

    The function returns text, bytes, a `ResourcePart`, or a list of them.

    Args:
        uri: A URI, or an RFC 6570 template whose places are the function's parameters.
        name: None means the function's.
        title: For people.
        description: By default the docstring's prose.
        media_type: Of what the function returns as text or bytes.
        tags: As of a tool.
        scopes: What a token must carry to read it.

    Raises:
        ToolSignatureError: The URI has no scheme, or the parameters are not its places.
    """
    scheme, colon, _ = uri.partition(":")
    if not colon or not scheme or "{" in scheme:
        raise ToolSignatureError(f"@resource: '{uri}' is not a URI: it begins with a scheme")

    def decorate(function: AnyFunction) -> AnyFunction:
        spec = ResourceSpec(
            uri=uri,
            name=name or _name(function),
            title=title,
            description=description or _prose(function),
            media_type=media_type,
            tags=tags,
            scopes=scopes,
        )
        _mark(function, FunctionResource(function, spec))
        return function

    return decorate


@overload
def prompt(function: AnyFunction, /) -> AnyFunction: ...
@overload
def prompt(
    *,
    name: str = "",
    title: str = "",
    description: str = "",
    tags: tuple[str, ...] = (),
    scopes: tuple[str, ...] = (),
) -> Callable[[AnyFunction], AnyFunction]: ...
def prompt(
    function: Any = None,
    /,
    *,
    name: str = "",
    title: str = "",
    description: str = "",
    tags: tuple[str, ...] = (),
    scopes: tuple[str, ...] = (),
) -> Any:
    """Make a function a prompt; calling it still calls it.

    ```python
    @prompt
    def review(code: str, language: str = "python") -> str:
        \"\"\"Ask for a review.\"\"\"
        return f"Review this {language}: {code}"
    ```

    The function returns text (one message of the user), a content part, a `PromptMessage`, a list
    of them, or a `FilledPrompt`.

    Args:
        function: What becomes a prompt, when used without arguments.
        name: By default the function's.
        title: For people.
        description: By default the docstring's prose.
        tags: As of a tool.
        scopes: What a token must carry to use it.

    Raises:
        ToolSignatureError: The function cannot become a prompt.
    """

    def decorate(function: AnyFunction) -> AnyFunction:
        spec = PromptSpec(
            name=name or _name(function),
            title=title,
            description=description or _prose(function),
            tags=tags,
            scopes=scopes,
        )
        _mark(function, FunctionPrompt(function, spec))
        return function

    return decorate if function is None else decorate(function)


def offer_of(candidate: Any) -> FunctionResource | FunctionPrompt | None:
    """What `@resource` or `@prompt` made of a function; None when neither did."""
    return getattr(candidate, MARK, None)


def _mark(function: Any, made: FunctionResource | FunctionPrompt) -> None:
    function.__dict__[MARK] = made


def _function_tool(function: Callable[..., Any]) -> FunctionTool:
    made = as_tool(function)
    if not isinstance(made, FunctionTool):
        raise ToolSignatureError(f"{function!r} is not a function")
    return made


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _prose(function: Callable[..., Any]) -> str:
    return read_docstring(function.__doc__).description


def _join_names(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _items(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value]


def _content(value: Any, uri: str, media_type: str) -> ResourcePart:
    match value:
        case ResourcePart():
            return value
        case str():
            return ResourcePart(uri=uri, media_type=media_type or "text/plain", text=value)
        case bytes():
            kind = media_type or "application/octet-stream"
            return ResourcePart(uri=uri, media_type=kind, data=value)
        case _:
            raise ToolOutputError(
                f"The resource '{uri}' gave a {type(value).__name__}, not text, bytes or a "
                "ResourcePart."
            )


def _message(value: Any) -> PromptMessage:
    match value:
        case PromptMessage():
            return value
        case str():
            return PromptMessage(role="user", content=TextPart(text=value))
        case TextPart() | ImagePart() | AudioPart() | ResourcePart():
            return PromptMessage(role="user", content=value)
        case _:
            raise ToolOutputError(
                f"The prompt gave a {type(value).__name__}, not text, a content part or a "
                "PromptMessage."
            )


def _arguments(tool: FunctionTool) -> tuple[PromptArgument, ...]:
    schema = tool.spec.input_schema
    required = schema.get("required", ())
    return tuple(
        PromptArgument(
            name=name, description=shown.get("description", ""), required=name in required
        )
        for name, shown in schema.get("properties", {}).items()
    )

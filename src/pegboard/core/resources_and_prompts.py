"""Resources and prompts: what a source may offer beside tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, runtime_checkable

from pegboard.core.context import ToolContext
from pegboard.core.result import Part, ResourcePart

_SCHEME = "board://"


def board_uri(source: str, uri: str) -> str:
    """The URI of a source's resource on the board: `board://{source}/{uri}`.

    A resource without a source keeps its own URI; a board URI of the source stays as it is.
    """
    prefix = f"{_SCHEME}{source}/"
    return uri if not source or uri.startswith(prefix) else prefix + uri


def split_board_uri(uri: str) -> tuple[str, str]:
    """Split a board URI into the source and its own URI; the source is empty without one."""
    if uri.startswith(_SCHEME):
        source, slash, rest = uri[len(_SCHEME) :].partition("/")
        if slash and source and rest:
            return source, rest
    return "", uri


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSpec:
    """The description of a resource.

    Attributes:
        uri: The URI at the source, or an RFC 6570 template such as `docs://{page}`.
        name: Short, for programs.
        title: For people; empty means the name.
        size: Bytes, when known.
        audience: `user`, `assistant`; empty for both.
        priority: From 0 (optional) to 1 (required); None when unknown.
        source: Name of the source instance; empty for a bare one.
    """

    uri: str
    name: str
    title: str = ""
    description: str = ""
    media_type: str = ""
    size: int | None = None
    audience: tuple[str, ...] = ()
    priority: float | None = None
    source: str = ""
    scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def is_template(self) -> bool:
        """Whether the URI is a template with variables."""
        return "{" in self.uri

    def in_source(self, source: str) -> Self:
        """The resource with another source."""
        return replace(self, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSpec:
    """The description of a prompt.

    Attributes:
        name: Wire name, `{source}__{action}`, or plain for a bare function's.
        action: The name of the prompt at its source; empty means the name.
    """

    name: str
    action: str = ""
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()
    source: str = ""
    scopes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """A message of a filled prompt."""

    role: Literal["user", "assistant"]
    content: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledPrompt:
    """A prompt with its arguments in place."""

    messages: tuple[PromptMessage, ...]
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Completions of an argument.

    Attributes:
        total: The number of all completions; None when unknown.
        has_more: Whether `values` is incomplete.
    """

    values: tuple[str, ...] = ()
    total: int | None = None
    has_more: bool = False


@runtime_checkable
class Resource(Protocol):
    """A resource. It may implement `Completer` too."""

    @property
    def spec(self) -> ResourceSpec:
        """The description; the same object each time."""
        ...

    async def read(self, uri: str, ctx: ToolContext[Any], /) -> Sequence[ResourcePart]:
        """Read the contents; a folder may have several.

        Args:
            uri: The URI at the source, with the variables of a template filled in.
            ctx: The caller and the deadline.
        """
        ...


@runtime_checkable
class Prompt(Protocol):
    """A prompt. It may implement `Completer` too."""

    @property
    def spec(self) -> PromptSpec:
        """The description; the same object each time."""
        ...

    async def fill(self, arguments: Mapping[str, str], ctx: ToolContext[Any], /) -> FilledPrompt:
        """Fill in the arguments."""
        ...


@runtime_checkable
class Completer(Protocol):
    """A prompt or a resource template that can complete its arguments."""

    async def complete(
        self, argument: str, value: str, given: Mapping[str, str], ctx: ToolContext[Any], /
    ) -> Completion:
        """Complete an argument that begins with `value`.

        Args:
            argument: The name of the argument, or of the template variable.
            value: The typed prefix.
            given: The other arguments so far.
            ctx: The caller and the deadline.
        """
        ...


@runtime_checkable
class ResourceProvider(Protocol):
    """A source that offers resources and prompts beside tools.

    Both are listed after the tools, under the same deadline; `on_change` of the source covers them
    too.
    """

    async def resources(self) -> Sequence[Resource]:
        """List all resources and resource templates."""
        ...

    async def prompts(self) -> Sequence[Prompt]:
        """List all prompts."""
        ...

    def on_update(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the URI at the source whenever a resource changes."""
        ...

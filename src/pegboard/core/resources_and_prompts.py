"""What a source may offer beside tools: resources to read, and prompts to fill in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, runtime_checkable

from pegboard.core.context import ToolContext
from pegboard.core.result import Part, ResourcePart

_SCHEME = "board://"


def board_uri(source: str, uri: str) -> str:
    """The URI under which a board offers this resource of this source: `board://{source}/{uri}`.

    A resource without a source keeps its own; one that has such a URI already is left alone.
    """
    prefix = f"{_SCHEME}{source}/"
    return uri if not source or uri.startswith(prefix) else prefix + uri


def split_board_uri(uri: str) -> tuple[str, str]:
    """The source and its own URI; the source is empty for a URI of no source."""
    if uri.startswith(_SCHEME):
        source, slash, rest = uri[len(_SCHEME) :].partition("/")
        if slash and source and rest:
            return source, rest
    return "", uri


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSpec:
    """Something that can be read.

    Attributes:
        uri: As its own source knows it: a URI, or an RFC 6570 template such as `docs://{page}`.
        name: Short, for programs.
        title: For people; empty means the name.
        size: Bytes, when known.
        audience: For whom it is: `user`, `assistant`; empty for both.
        priority: From 0 (may be left out) to 1 (needed); None when not said.
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
        """Whether the URI has places to fill in."""
        return "{" in self.uri

    def in_source(self, source: str) -> Self:
        """The same as a resource of this source."""
        return replace(self, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArgument:
    """One place to fill in."""

    name: str
    title: str = ""
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSpec:
    """A prompt that somebody can ask for by name.

    Attributes:
        name: Wire name, `{source}__{action}`, or plain for a bare function's.
        action: What the source itself calls it; empty means the name.
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
    """One message of a filled-in prompt."""

    role: Literal["user", "assistant"]
    content: Part


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledPrompt:
    """A prompt with its arguments in place."""

    messages: tuple[PromptMessage, ...]
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What an argument may be, given how it begins.

    Attributes:
        total: How many there are in all; None when unknown.
        has_more: Whether `values` leaves some out.
    """

    values: tuple[str, ...] = ()
    total: int | None = None
    has_more: bool = False


@runtime_checkable
class Resource(Protocol):
    """Something that can be read. It may also have `complete`, as `Completer` says."""

    @property
    def spec(self) -> ResourceSpec:
        """What it is; the same object each time."""
        ...

    async def read(self, uri: str, ctx: ToolContext[Any], /) -> Sequence[ResourcePart]:
        """Its contents; a folder may have several.

        Args:
            uri: As the source knows it, with the places of a template filled in.
            ctx: Who asks, and by when.
        """
        ...


@runtime_checkable
class Prompt(Protocol):
    """A prompt to fill in. It may also have `complete`, as `Completer` says."""

    @property
    def spec(self) -> PromptSpec:
        """What it is; the same object each time."""
        ...

    async def fill(self, arguments: Mapping[str, str], ctx: ToolContext[Any], /) -> FilledPrompt:
        """Put the arguments in their places."""
        ...


@runtime_checkable
class Completer(Protocol):
    """A prompt or a resource template that can complete its arguments."""

    async def complete(
        self, argument: str, value: str, given: Mapping[str, str], ctx: ToolContext[Any], /
    ) -> Completion:
        """What `argument` may be when it begins with `value`.

        Args:
            argument: The name of the argument, or of the template's place.
            value: What has been typed so far.
            given: Other arguments that are known already.
            ctx: Who asks, and by when.
        """
        ...


@runtime_checkable
class ResourceProvider(Protocol):
    """A source that offers resources and prompts beside tools.

    Both are listed after the tools, under the same deadline; `on_change` of the source covers them
    too.
    """

    async def resources(self) -> Sequence[Resource]:
        """All its resources and resource templates as of now."""
        ...

    async def prompts(self) -> Sequence[Prompt]:
        """All its prompts as of now."""
        ...

    def on_update(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the source's own URI whenever a resource's contents change."""
        ...

"""A tool: a frozen spec, and something that runs.

The spec is plain data, so that a tool can be listed, searched, versioned and shown without
importing what runs it.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

from pegboard.errors import ConfigError, ToolSignatureError

if TYPE_CHECKING:
    from pegboard.core.context import ToolContext

JsonSchema = Mapping[str, Any]
_SCHEMAS = frozenset({"input_schema", "output_schema"})
_SHOWN_EXAMPLES, _EXAMPLE_LENGTH = 3, 500
"""Examples that models are shown at most, and the characters of one."""


class Effect(StrEnum):
    """What a tool changes. An unknown effect counts as `write`."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    @property
    def strength(self) -> int:
        """The rank of the effect; a higher one may change more."""
        return _STRENGTHS[self]


_STRENGTHS = {effect: number for number, effect in enumerate(Effect)}


class Status(StrEnum):
    """The life-cycle status of a tool. Only `active` and `deprecated` tools can be called."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    DISABLED = "disabled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """The retry policy of a tool.

    Attributes:
        max_retries: Attempts beyond the first.
        backoff: Seconds before the first retry; doubled for each further one, with full jitter.
        max_backoff: The maximal wait, in seconds.
        on: Error codes or exception types to retry. Empty means every `Unavailable`.
    """

    max_retries: int = 2
    backoff: float = 0.2
    max_backoff: float = 10.0
    on: tuple[str | type[Exception], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Rate and concurrency limits of a tool.

    Attributes:
        rate: Calls per `per` seconds; None for no limit.
        per: The length of the rate's window, in seconds.
        concurrency: Calls in flight at once; None for no limit.

    Raises:
        ConfigError: A limit that allows no call; to turn a tool off, disable or deny it.
    """

    rate: float | None = None
    per: float = 1.0
    concurrency: int | None = None

    def __post_init__(self) -> None:
        if (self.rate is not None and self.rate <= 0) or self.per <= 0:
            raise ConfigError(f"Limits: rate={self.rate} per={self.per} must be more than 0")
        if self.concurrency is not None and self.concurrency < 1:
            raise ConfigError(f"Limits: concurrency={self.concurrency} must be at least 1")


class _Lazy:
    """A dataclass field that takes a value, or a function that makes it on first use."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = f"_{name}"

    def _read(self, instance: object) -> Any:
        value = instance.__dict__[self._key]
        if callable(value):
            value = instance.__dict__[self._key] = value()
        return value


class LazySchema(_Lazy):
    """A spec's schema field: a schema, or a function that makes one."""

    @overload
    def __get__(self, instance: None, owner: type) -> "LazySchema": ...
    @overload
    def __get__(self, instance: object, owner: type) -> JsonSchema: ...
    def __get__(self, instance: object | None, owner: type) -> "LazySchema | JsonSchema":
        if instance is None:
            raise AttributeError(self._key)  # tells dataclass that the field has no default
        return self._read(instance)

    def __set__(self, instance: object, value: JsonSchema | Callable[[], JsonSchema]) -> None:
        instance.__dict__[self._key] = value


class LazyOptionalSchema(_Lazy):
    """The same for a schema that may be absent: its default is None."""

    @overload
    def __get__(self, instance: None, owner: type) -> None: ...
    @overload
    def __get__(self, instance: object, owner: type) -> JsonSchema | None: ...
    def __get__(self, instance: object | None, owner: type) -> JsonSchema | None:
        return None if instance is None else self._read(instance)

    def __set__(
        self, instance: object, value: JsonSchema | Callable[[], JsonSchema | None] | None
    ) -> None:
        instance.__dict__[self._key] = value


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """The description of a tool: everything but the code that runs it.

    Attributes:
        name: Wire name, `{source}__{action}` or plain for a bare function.
        description: For the model.
        input_schema: JSON Schema 2020-12 of an object. A function given here is called on first
            use, so that thousands of tools register at once.
        output_schema: JSON Schema of `ToolResult.structured`; None when nothing is promised.
        title: For people; empty means the name.
        action: The name of the tool at its source; empty means the name.
        registered_name: The name that rules, limits and kill switches match too, where a view
            shows another name; empty means the name.
        alias: A second name, by which it is found while no other tool has that name. Rules that
            restrict match it too. Empty means none.
        target: What it runs, the same for all tools that run it, for rules that follow what runs:
            `module:name` of a function, with `#` and a number where that is not all (a method of
            one object, a partial), or the path of a script. Empty means unknown.
        category: An open set (`computation`, `web`, `database`, ...).
        effect: What it changes; selects the default policy.
        destructive: Whether a tool that writes may destroy or overwrite something. None means
            unknown, which counts as yes.
        trusted: Whether its results are text of people whom the operator trusts. What comes from
            the web, from mail or documents is not, and may contain orders to a model.
        open_world: Whether a call that writes reaches beyond the board, as a mail or a request
            does, unlike a file in a workspace. None means unknown, which counts as yes.
        idempotent: Whether calling it twice has the same effect as once. None means unknown.
        cacheable: Whether a result may be reused for `cache_ttl` seconds.
        cache_per_principal: Whether each caller has a cache of its own.
        capabilities: For capability search and plans.
        supported_tasks: Goals that it fulfils alone, for plans.
        examples: Arguments of typical calls, which models are shown and search reads. They are
            checked against the input schema when the tool is registered.
        dependencies: Ids of tools that must run before it, or must be healthy.
        id: Stable id with the major version, `search_web_v1`.
        timeout: Seconds for one attempt; None means the board's default, 0 means none.
        retry: None means no retries.
        source: Name of the source instance it came from; empty for a bare function.
        handler: The kind of its source; empty for a bare function.
        toolkit: The class whose method it is; empty for none.
        credential: The name of the credential of its calls, never its value.
        caller_credential: Whether each call acts with a credential of its caller.
        scopes: The scopes that a caller needs.
        exclusive: Whether it runs alone within a batch.
        max_result_bytes: The result's size budget; None means the board's default.
        unavailable: Why it cannot be used now and what to do; empty when it can be used.

    Raises:
        ToolSignatureError: An unknown effect or status, or a schema that is not a mapping.
    """

    name: str
    description: str = ""
    input_schema: LazySchema = LazySchema()
    output_schema: LazyOptionalSchema = LazyOptionalSchema()
    title: str = ""
    action: str = ""
    registered_name: str = ""
    alias: str = ""
    target: str = ""
    category: str = "general"
    effect: Effect = Effect.WRITE
    destructive: bool | None = None
    idempotent: bool | None = None
    trusted: bool = True
    open_world: bool | None = None
    cacheable: bool = False
    cache_ttl: float = 60.0
    cache_per_principal: bool = True
    capabilities: tuple[str, ...] = ()
    supported_tasks: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    tags: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    id: str = ""
    version: str = "1.0.0"
    status: Status = Status.ACTIVE
    timeout: float | None = None
    retry: Retry | None = None
    limits: Limits | None = None
    source: str = ""
    handler: str = ""
    toolkit: str = ""
    credential: str = ""
    caller_credential: bool = False
    scopes: tuple[str, ...] = ()
    exclusive: bool = False
    max_result_bytes: int | None = None
    unavailable: str = ""

    def __post_init__(self) -> None:
        if self.effect.__class__ is not Effect or self.status.__class__ is not Status:
            object.__setattr__(self, "effect", _member(self.name, "effect", Effect, self.effect))
            object.__setattr__(self, "status", _member(self.name, "status", Status, self.status))
        _check_schema(self.name, "input_schema", self.__dict__["_input_schema"])
        if self.__dict__["_output_schema"] is not None:
            _check_schema(self.name, "output_schema", self.__dict__["_output_schema"])
        if not self.id:
            major = self.version.partition(".")[0]
            object.__setattr__(self, "id", f"{self.name}_v{major}")

    @property
    def may_destroy(self) -> bool:
        """Whether a call may destroy or overwrite something; unknown counts as yes."""
        return self.effect is not Effect.READ and self.destructive is not False

    @property
    def leaves_board(self) -> bool:
        """Whether a call changes something beyond the board; unknown counts as yes."""
        return self.effect is not Effect.READ and self.open_world is not False

    def replace(self, **changes: Any) -> "ToolSpec":
        """A copy with some fields replaced; schemas that are not built stay unbuilt.

        Raises:
            TypeError: There is no such field.
        """
        if "name" in changes or "version" in changes:
            changes.setdefault("id", "")
        made = object.__new__(type(self))  # `replace` takes ten times as long for so many fields
        made.__dict__.update(self.__dict__)
        for field, value in changes.items():
            key = f"_{field}" if field in _SCHEMAS else field
            if key not in made.__dict__:
                raise TypeError(f"a ToolSpec has no field {field!r}")
            made.__dict__[key] = value
        made.__post_init__()
        return made

    def list_built_schemas(self) -> list[JsonSchema]:
        """The schemas that were given as such, or that were built already."""
        found = [self.__dict__[f"_{field}"] for field in sorted(_SCHEMAS)]
        return [schema for schema in found if schema is not None and not callable(schema)]

    @property
    def model_description(self) -> str:
        """The description for models: with examples, as far as they are short."""
        if not self.examples:
            return self.description
        from msgspec import json

        shown = [json.encode(example).decode() for example in self.examples[:_SHOWN_EXAMPLES]]
        lines = [f"Example: {text}" for text in shown if len(text) <= _EXAMPLE_LENGTH]
        return "\n".join([self.description, *lines]).strip()

    def to_dict(self) -> dict[str, Any]:
        """The spec as JSON-compatible data, schemas included, empty fields left out."""
        data: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "title": self.title or self.name,
            "description": self.description,
            "category": self.category,
            "effect": self.effect.value,
            "version": self.version,
            "status": self.status.value,
            "source": self.source,
            "input_schema": self.input_schema,
        }
        optional: dict[str, Any] = {
            "output_schema": self.output_schema,
            "action": self.action,
            "handler": self.handler,
            "credential": self.credential,
            "destructive": self.destructive,
            "idempotent": self.idempotent,
            "trusted": None if self.trusted else False,
            "open_world": self.open_world,
            "capabilities": list(self.capabilities),
            "supported_tasks": list(self.supported_tasks),
            "examples": [dict(example) for example in self.examples],
            "tags": list(self.tags),
            "dependencies": list(self.dependencies),
            "scopes": list(self.scopes),
            "timeout": self.timeout,
            "retry": _plain(self.retry),
            "limits": _plain(self.limits),
            "cache_ttl": self.cache_ttl if self.cacheable else None,
            "exclusive": self.exclusive or None,
            "unavailable": self.unavailable,
        }
        return data | {key: value for key, value in optional.items() if value not in (None, "", [])}


def _member(tool: str, field: str, kind: type[StrEnum], value: object) -> StrEnum:
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(kind)
        raise ToolSignatureError(f"'{tool}': {field} is one of {known}; found {value!r}") from error


def _check_schema(tool: str, field: str, value: object) -> None:
    if value.__class__ is not dict and not callable(value) and not isinstance(value, Mapping):
        raise ToolSignatureError(
            f"'{tool}': {field} is a JSON Schema as a mapping; found {value!r}"
        )


AGENT = "agents"
"""The `handler` of an agent that is a tool."""


@runtime_checkable
class Tool(Protocol):
    """Something that can be called.

    `run` gets arguments that fit the spec's input schema, or what the tool's own `arguments` made
    of them when it has such a reader, and may return a `ToolResult` or any value, which is wrapped.
    """

    @property
    def spec(self) -> ToolSpec:
        """What it is; the same object each time."""
        ...

    def run(self, arguments: Mapping[str, Any], ctx: "ToolContext[Any]", /) -> Awaitable[Any]:
        """Do it; awaited once. Raise `ToolFailed` to say no, `Unavailable` when later may help."""
        ...


@runtime_checkable
class UpstreamTool(Tool, Protocol):
    """A tool whose definition comes from an upstream, and is pinned."""

    @property
    def upstream(self) -> ToolSpec | None:
        """The upstream's own spec, without the operator's overrides; None without an upstream."""
        ...

    @property
    def overridden(self) -> frozenset[str]:
        """The fields of the spec that the operator overrides."""
        ...


def _plain(value: Any) -> Any:
    from msgspec import json

    return json.decode(json.encode(value, enc_hook=_to_name))


def _to_name(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


def is_for_models(tool: Tool) -> bool:
    """Whether a model may be shown a tool: no model gets an agent as one."""
    return tool.spec.handler != AGENT

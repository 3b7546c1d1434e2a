"""The configuration of an MCP server in `board.yaml`."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    Tag,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import Effect
from pegboard.tools.call_headers import check_text, is_of_call

_SECRETIVE = re.compile(r"TOKEN|SECRET|PASS|PWD|KEY|CREDENTIAL|AUTH|COOKIE", re.IGNORECASE)
_SCHEME = re.compile(r"((?:Bearer|Basic|Token|ApiKey) +)(\S.*)", re.IGNORECASE | re.DOTALL)


def _wrap_secrets(values: Any) -> Any:
    """Turn variables and headers with a telling name into secrets; others stay readable."""
    if not isinstance(values, Mapping):
        return values
    items = cast("Mapping[Any, Any]", values).items()
    return {name: _secret(str(name), value) for name, value in items}


def _secret(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return str(value) if isinstance(value, (int, float)) else value
    if _SECRETIVE.search(name) is None or is_of_call(value):
        return value
    found = _SCHEME.fullmatch(value)  # what is secret is the token, not the word before it
    return (found.group(1), SecretStr(found.group(2))) if found else SecretStr(value)


Texts = Mapping[str, str | SecretStr | tuple[str, SecretStr]]
Guarded = Annotated[
    Texts,
    BeforeValidator(_wrap_secrets),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": "string"}}),
]
"""Strings by name; secret ones are masked."""


def _of_call(headers: Texts) -> Texts:
    for text in reveal(headers).values():
        check_text(text)
    return headers


class BearerToken(BaseModel):
    """`Authorization: Bearer ...` with each request."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    kind: Literal["bearer"] = "bearer"
    token: SecretStr


class OAuthAccess(BaseModel):
    """A login by OAuth 2.1: each caller consents in a browser, once.

    The authorization server, its metadata and the scopes are found as MCP authorization says.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    kind: Literal["oauth"]
    client_id: Annotated[
        str,
        Field(
            description="Of a client registered beforehand; empty to use the client document or "
            "to register"
        ),
    ] = ""
    client_secret: Annotated[SecretStr | None, Field(description="Of that client")] = None
    client_url: Annotated[
        str,
        Field(
            pattern=r"^(https://[^/]+/.+)?$",
            description="The address of a client document "
            "(CIMD) of ours, which is then the client id",
        ),
    ] = ""
    scopes: Annotated[
        tuple[str, ...], Field(description="Scopes to begin with; empty: those the server names")
    ] = ()


def _auth_kind(value: Any) -> Any:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).get("kind", "bearer")
    return getattr(value, "kind", value)


_Auth = Annotated[
    Annotated[BearerToken, Tag("bearer")] | Annotated[OAuthAccess, Tag("oauth")],
    Discriminator(_auth_kind),
]


class McpConfig(BaseModel):
    """The `config:` section of a `kind: mcp` source.

    One server by `command` or by `url`, or many by `mcp_json` or `mcpServers`.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, populate_by_name=True
    )

    command: Annotated[str, Field(description="Program that speaks MCP on stdin and stdout")] = ""
    args: Annotated[tuple[str, ...], Field(title="Arguments", description="Its arguments")] = ()
    env: Annotated[
        Guarded,
        Field(
            title="Environment variables",
            description="Its variables, beside PATH, HOME and few more of ours",
        ),
    ] = {}
    cwd: Annotated[
        str,
        Field(
            title="Working directory", description="Where it starts; empty for the board's folder"
        ),
    ] = ""
    url: Annotated[
        str,
        Field(
            title="Address of the server",
            description="Endpoint of a server, http(s)://host/mcp",
            json_schema_extra={"x-first": True},
        ),
    ] = ""
    headers: Annotated[
        Guarded,
        AfterValidator(_of_call),
        Field(
            description="Sent with each request to the url; `{call.id}`, `{call.run_id}`, "
            "`{call.parent_id}`, `{call.tool}` and `{call.idempotency_key}` stand for the call's "
            "own, and a header that has nothing to say is left out"
        ),
    ] = {}
    auth: Annotated[
        _Auth | None, Field(title="Sign-in", description="How to log in at the url")
    ] = None
    transport: Annotated[
        Literal["auto", "http", "sse"],
        Field(description="auto: streamable HTTP, or SSE where the url ends in /sse"),
    ] = "auto"
    mcp_json: Annotated[
        str,
        Field(
            title="File of MCP servers",
            description="A file with mcpServers (or VS Code's servers) to take them from",
        ),
    ] = ""
    mcp_servers: Annotated[
        Mapping[str, Any] | None,
        Field(
            alias="mcpServers",
            title="MCP servers",
            description="The same, written here",
            repr=False,
        ),
    ] = None
    protocol: Annotated[
        Literal["auto", "legacy", "modern"],
        Field(description="legacy: begin with the handshake of 2025-11-25 and before"),
    ] = "auto"
    include: Annotated[
        tuple[str, ...], Field(description="Tools to offer, by the server's names; * is any text")
    ] = ("*",)
    exclude: Annotated[tuple[str, ...], Field(description="Tools to leave out")] = ()
    rename: Annotated[Mapping[str, str], Field(description="Other names for tools")] = {}
    trust_hints: Annotated[
        bool,
        Field(
            description="Whether a tool that the server itself calls read-only (`readOnlyHint`) is "
            "of effect `read`; otherwise it is `write` unless `effects` says more."
        ),
    ] = False
    effects: Annotated[
        Mapping[str, Effect],
        Field(description="read, write or admin by tool, where the server does not say it right"),
    ] = {}
    destructive: Annotated[
        Mapping[str, bool],
        Field(
            description="Whether a tool that writes may destroy or overwrite something, by tool; "
            "`false` is yours alone to say: the server's hint can only make it `true`."
        ),
    ] = {}
    capabilities: Annotated[
        Mapping[str, tuple[str, ...]],
        Field(description="What plans may choose a tool for, by tool"),
    ] = {}
    resources: Annotated[bool, Field(description="Offer its resources")] = True
    prompts: Annotated[bool, Field(description="Offer its prompts")] = True
    asks: Annotated[
        bool,
        Field(
            title="Asks questions",
            description="Whether it may ask the caller and the caller's model",
        ),
    ] = True
    roots: Annotated[tuple[str, ...], Field(description="Folders that the server may work in")] = ()
    log_level: Annotated[
        Literal["debug", "info", "notice", "warning", "error"],
        Field(description="The least that it tells its callers while they wait"),
    ] = "info"
    category: Annotated[str, Field(min_length=1, description="Of its tools")] = "mcp"
    tags: Annotated[tuple[str, ...], Field(description="Of its tools")] = ()
    timeout: Annotated[float | None, Field(gt=0, le=86_400, description="Seconds for one call")] = (
        None
    )
    connect_timeout: Annotated[
        float, Field(gt=0, le=600, description="Seconds for starting and greeting")
    ] = 30.0
    ping_timeout: Annotated[
        float,
        Field(
            gt=0,
            le=3_600,
            description="Seconds of silence after which a server is started anew that left a call "
            "unanswered; longer where its tools take long and let it answer nothing meanwhile",
        ),
    ] = 10.0
    idle_timeout: Annotated[
        float, Field(ge=0, description="Seconds after which an unused session is closed; 0: never")
    ] = 600.0
    max_sessions: Annotated[
        int, Field(ge=1, le=10_000, description="Callers with a session of their own at once")
    ] = 32

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [
            name
            for name, given in (
                ("command", self.command),
                ("url", self.url),
                ("mcp_json", self.mcp_json),
                ("mcpServers", self.mcp_servers is not None),
            )
            if given
        ]
        if len(ways) != 1:
            found = " and ".join(ways) or "none of them"
            raise ValueError(f"give one of command, url, mcp_json and mcpServers; found {found}")
        self._only_with("command", args=self.args, env=self.env, cwd=self.cwd)
        transport = self.transport if self.transport != "auto" else ""
        self._only_with("url", headers=self.headers, auth=self.auth, transport=transport)
        return self

    def _only_with(self, field: str, **others: Any) -> None:
        for name, value in others.items():
            if value and self.names_many:
                # a token that each server of a list got would be known to all of them
                raise ValueError(f"'{name}' belongs to one server; write it in that one's entry")
            if value and not getattr(self, field):
                raise ValueError(f"'{name}' belongs to '{field}'")

    @property
    def names_many(self) -> bool:
        """Whether this names a list of servers instead of one."""
        return not (self.command or self.url)

    @property
    def is_sse(self) -> bool:
        """Whether the url speaks the older HTTP+SSE transport."""
        if self.transport == "auto":
            return self.url.partition("?")[0].rstrip("/").endswith("/sse")
        return self.transport == "sse"

    @property
    def credential(self) -> str:
        """The name of the variable or header with the credential; never its value."""
        if self.auth is not None:
            return "auth.token" if isinstance(self.auth, BearerToken) else "auth"
        given = self.env if self.command else self.headers
        return ", ".join(name for name, value in given.items() if not isinstance(value, str))


class FaultyServer(BaseModel):
    """Takes the place of a server with an invalid entry, so that the other servers still open.

    Attributes:
        problem: What is wrong, where, and what to write.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    problem: str


def words_of(error: ValidationError) -> str:
    """The faults of a configuration, each with its path and without the value."""
    return "; ".join(map(_word, error.errors(include_url=False, include_input=False)))


def _word(detail: Any) -> str:
    loc = detail["loc"]
    if loc[:1] == ("auth",):
        loc = (*loc[:1], *loc[2:])  # without the kind, which pydantic puts between
    where = ".".join(map(str, loc))
    if detail["type"] == "extra_forbidden":
        known = list(McpConfig.model_fields)
        hint = did_you_mean(where, known, otherwise=f"known are {', '.join(known)}")
        return f"unknown '{where}'; {hint}"
    said = detail["msg"].removeprefix("Value error, ").replace("dictionary", "mapping")
    return f"'{where}': {said[:1].lower()}{said[1:]}" if where else said


def reveal(values: Texts) -> dict[str, str]:
    """The values as they are sent, secrets included."""
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: str | SecretStr | tuple[str, SecretStr]) -> str:
    if isinstance(value, tuple):
        return value[0] + value[1].get_secret_value()
    return value.get_secret_value() if isinstance(value, SecretStr) else value

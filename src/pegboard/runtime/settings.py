"""Settings of the process: `PEGBOARD_*` variables; the only place that reads the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator

from pegboard.core.text.suggestions import nearest_names
from pegboard.errors import ConfigError
from pegboard.runtime.account_settings import AccountSettings
from pegboard.runtime.config_fault import word_fault
from pegboard.runtime.file_settings import FileSettings
from pegboard.runtime.model_settings import BoardModelSettings
from pegboard.schemas.validation_cost import MAX_BRANCHES

PREFIX = "PEGBOARD_"


class Settings(FileSettings, AccountSettings, BoardModelSettings):
    """The settings of the process; each is read from the variable `PEGBOARD_` and its name."""

    board: Annotated[Path | None, Field(description="The board file.")] = None
    data: Annotated[
        Path | None,
        Field(
            description="The data directory, or `memory`: nothing outlives the process then. The "
            "command line has `.pegboard/` beside the board file by default, the library memory."
        ),
    ] = None
    database: Annotated[
        SecretStr | None,
        Field(
            description="A PostgreSQL database shared by servers, as "
            "`postgresql://user@host/name`; the default is SQLite in the data "
            "directory."
        ),
    ] = None
    secret_key: Annotated[
        SecretStr | None,
        Field(
            description="The master key of stored credentials: 32 random bytes in base64; several "
            "separated by commas, newest first, to rotate. The default is the file "
            "`master.key` in the data directory; servers that share a database need it."
        ),
    ] = None
    secret_key_file: Annotated[
        Path | None, Field(description="A file with the master key, instead of `secret_key`.")
    ] = None
    host: Annotated[str, Field(description="The address the server listens on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="The server's port; 0 picks one.")] = (
        8321
    )
    token: Annotated[
        SecretStr | None,
        Field(description="The bearer token that callers of the server must send."),
    ] = None
    public_url: Annotated[
        str,
        Field(
            description="The address under which browsers reach the server behind a reverse proxy, "
            "as `https://board.example/pegboard`; the proxy removes its path."
        ),
    ] = ""
    url: Annotated[
        str,
        Field(
            description="A server that commands ask instead of opening a board, with the token "
            "above; `serve` and `mcp` ignore it."
        ),
    ] = ""
    log: Annotated[
        str,
        Field(
            description="Log lines: `off`, `terminal` (readable lines to stderr), `stdout` or "
            "`stderr` (JSON), or a file (JSON). `auto` is `off`, except for `pegboard serve`, "
            "which chooses `terminal` on a terminal and `stderr` elsewhere."
        ),
    ] = "auto"
    traces: Annotated[
        bool,
        Field(
            description="OpenTelemetry spans: to the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`, "
            "or through the provider that the application has set."
        ),
    ] = False
    attempt_timeout: Annotated[
        float, Field(ge=0, description="Seconds for one attempt of a tool that sets no timeout.")
    ] = 60.0
    call_timeout: Annotated[
        float, Field(ge=0, description="Seconds for a whole call with its waits and retries.")
    ] = 300.0
    list_timeout: Annotated[
        float, Field(gt=0, description="Seconds for a source to open and list its tools.")
    ] = 10.0
    open_patience: Annotated[
        float,
        Field(
            ge=0,
            description="Seconds that opening or reloading a board waits for remote sources "
            "(three times that for local ones); the tools of a slower source "
            "appear when it answers.",
        ),
    ] = 2.0
    open_on_demand: Annotated[
        bool,
        Field(
            description="Open a source only when one of its tools is called by name; until "
            "then its tools are not listed. Useful for a single call on a board "
            "with many sources."
        ),
    ] = False
    max_result_bytes: Annotated[
        int, Field(ge=0, description="Larger results are stored and paged; 0 for no limit.")
    ] = 100_000
    max_stored_bytes: Annotated[
        int,
        Field(
            ge=0,
            description="Bytes of stored results per caller, beyond which the oldest are deleted; "
            "0 for no limit.",
        ),
    ] = 500_000_000
    max_request_bytes: Annotated[
        int, Field(gt=0, description="The largest request body that the server reads.")
    ] = 10_000_000
    max_request_values: Annotated[
        int,
        Field(
            gt=0,
            description="Values in a JSON body, message or MCP request, since each takes "
            "microseconds to validate; ten times as many in POST /tools/bulk.",
        ),
    ] = 200_000
    max_schema_alternatives: Annotated[
        int,
        Field(
            gt=0,
            description="Subschemas that may apply to one value, since a validation may try them "
            "all; the largest of the boards that the process has open.",
        ),
    ] = MAX_BRANCHES
    max_requests: Annotated[
        int,
        Field(
            gt=0,
            description="Requests that the server works on at once; further ones get a 503 with "
            "Retry-After. Streams and probes do not count.",
        ),
    ] = 500
    max_connections: Annotated[
        int,
        Field(
            gt=0,
            description="Open connections to the server. Beyond it the oldest one without a "
            "request in progress is closed, or the new one gets a 503.",
        ),
    ] = 2_000
    max_connections_per_address: Annotated[
        int,
        Field(
            gt=0,
            description="The same for the connections of one client address; those of "
            "`PEGBOARD_TRUSTED_PROXIES` count in all only.",
        ),
    ] = 1_000
    header_timeout: Annotated[
        float,
        Field(
            gt=0,
            description="Seconds that a client has to send the headers of a request, and the "
            "rest of a request that is answered already.",
        ),
    ] = 15.0
    store_arguments: Annotated[
        bool, Field(description="Store redacted arguments in the history; otherwise only a digest.")
    ] = False
    approval_ttl: Annotated[
        float,
        Field(
            ge=0,
            description="Seconds that an approval may be pending, and stays valid once given; "
            "0 for no limit.",
        ),
    ] = 24 * 3600.0
    question_timeout: Annotated[
        float,
        Field(
            ge=0,
            le=86_400,
            description="Seconds that a tool in a run or a chat waits for the answer of a person "
            "to its question; 0 refuses all questions.",
        ),
    ] = 600.0
    run_lease: Annotated[
        float,
        Field(
            ge=1,
            description="Seconds after which another server takes over a run or an idempotency "
            "key of a server that has stopped, where servers share a database; "
            "their clocks must agree far more closely than this.",
        ),
    ] = 30.0
    audit: Annotated[
        Literal["auto", "on", "reads", "off"],
        Field(
            description="The audit trail of changes and refusals; `reads` adds every call; "
            "`auto` is on where data is stored, and adds every call that leaves the process: "
            "of REST APIs, databases and MCP servers."
        ),
    ] = "auto"
    audit_required: Annotated[
        bool,
        Field(
            description="Write calls, decisions and changes of the board to the audit trail "
            "before they take effect, and refuse them while it cannot be written."
        ),
    ] = False
    knowledge_web: Annotated[
        Literal["members", "operators", "off"],
        Field(
            description="Who may add web addresses to knowledge bases, which the server then "
            "fetches: everybody who may change the base, `operators` only, or nobody (`off`). "
            "Addresses of bases in the board file are always fetched."
        ),
    ] = "members"
    mcp_name_length: Annotated[
        int,
        Field(
            ge=44,
            le=64,
            description="Characters of the name of a tool at most, as MCP clients see it. Many "
            "put a prefix before names and refuse more than 64 in all. A longer name is cut, and "
            "ends in `_x` and a digest; a call may use either.",
        ),
    ] = 48
    keep_history_days: Annotated[
        float,
        Field(ge=0, description="Days that calls are kept in the history; 0 for ever."),
    ] = 90.0
    keep_runs_days: Annotated[
        float, Field(ge=0, description="Days that finished runs are kept; 0 for ever.")
    ] = 90.0
    keep_conversations_days: Annotated[
        float,
        Field(
            ge=0,
            description="Days that conversations are kept after their last message, and what was "
            "found in documents for a question; 0 for ever.",
        ),
    ] = 0.0
    keep_plans_days: Annotated[
        float,
        Field(ge=0, description="Days that plans without a stored run are kept; 0 for ever."),
    ] = 90.0
    keep_approvals_days: Annotated[
        float,
        Field(
            ge=0,
            description="Days that approvals are kept after they are no longer valid; 0 for ever.",
        ),
    ] = 90.0
    keep_audit_days: Annotated[
        float,
        Field(ge=0, description="Days that the audit trail is kept; 0 for ever."),
    ] = 0.0
    reload: Annotated[
        Literal["on", "off", "files"],
        Field(
            description="Whether the server reloads the board file when it changes; `files` does "
            "so for the modules and scripts of its tools too."
        ),
    ] = "on"

    @field_validator("data", mode="before")
    @classmethod
    def _is_kept(cls, value: Any) -> Any:
        return None if value == "memory" else value

    @field_validator("database")
    @classmethod
    def _is_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        schemes = ("postgresql://", "postgres://")
        if value is not None and not value.get_secret_value().startswith(schemes):
            raise ValueError("write postgresql://user:password@host:port/name")
        return value

    search_provider: Annotated[
        Literal["brave", "tavily", "searxng"] | None,
        Field(description="The service that `web_search` asks; without one it is unavailable."),
    ] = None
    search_url: Annotated[
        str,
        Field(
            description="The address of the search service: needed for `searxng`, as "
            "`https://searx.example.com`; by default the provider's own for the others."
        ),
    ] = ""
    search_key: Annotated[
        SecretStr | None,
        Field(description="The key of the search service; needed for `brave` and `tavily`."),
    ] = None
    smtp_url: Annotated[
        SecretStr | None,
        Field(
            description="The mail server of `email_send`: `smtps://user:password@host` (TLS, port "
            "465), `smtp://user:password@host` (STARTTLS, port 587), or `smtp+plain://host` for a "
            "relay without TLS and without a password (port 25). Write `%40` for `@` in a user or "
            "password."
        ),
    ] = None
    email_from: Annotated[
        str, Field(description="The sender of `email_send`, as `Shop <shop@example.com>`.")
    ] = ""
    email_recipients: Annotated[
        str,
        Field(
            description="Who may get mail from `email_send`: addresses or globs, separated by "
            "commas, as `*@example.com, ada@example.org`; by default anyone."
        ),
    ] = ""
    notify_url: Annotated[
        SecretStr | None,
        Field(
            description="Where `send_notification` posts: a webhook, or a topic as "
            "`https://ntfy.sh/topic`."
        ),
    ] = None
    notify_format: Annotated[
        Literal["json", "slack", "ntfy"],
        Field(
            description="What `send_notification` posts: JSON with `title`, `message`, `priority` "
            "and `link`, or the format of Slack's incoming webhooks or of ntfy."
        ),
    ] = "json"
    notify_token: Annotated[
        SecretStr | None, Field(description="A bearer token for `PEGBOARD_NOTIFY_URL`.")
    ] = None
    image_url: Annotated[
        str,
        Field(
            description="The base of the images API of `generate_image`, in OpenAI's format, as "
            "`https://images.example.com/v1`; by default OpenAI's own."
        ),
    ] = ""
    image_key: Annotated[
        SecretStr | None,
        Field(
            description="The key of the images API; without it `generate_image` is unavailable, "
            "unless `PEGBOARD_IMAGE_URL` is set."
        ),
    ] = None
    image_model: Annotated[str, Field(description="The model of `generate_image`.")] = "gpt-image-1"

    @field_validator("url")
    @classmethod
    def _is_http(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("write the address of a server, as http://127.0.0.1:8321")
        return value

    @field_validator("public_url")
    @classmethod
    def _is_origin_and_path(cls, value: str) -> str:
        parts = urlsplit(value)
        is_whole = parts.scheme in {"http", "https"} and parts.hostname
        if value and (not is_whole or parts.query or parts.fragment or "@" in parts.netloc):
            raise ValueError("write an address as https://board.example/pegboard")
        return value.rstrip("/")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read the `PEGBOARD_*` variables.

        Raises:
            ConfigError: A setting is unknown or invalid; the message names it and says what to
                write.
        """
        variables = environ() if environment is None else environment
        given = {
            key.removeprefix(PREFIX).lower(): value
            for key, value in variables.items()
            if key.startswith(PREFIX) and value != ""
        }
        for name in given.keys() - cls.model_fields.keys():
            nearest = nearest_names(name, cls.model_fields, most=1)
            hint = f"did you mean {PREFIX}{nearest[0].upper()}?" if nearest else "no such setting"
            raise ConfigError(f"{PREFIX}{name.upper()}: {hint}")
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            name = f"{PREFIX}{str(fault['loc'][0]).upper()}"
            raise ConfigError(f"{name}: {word_fault(fault)}") from error

    def replace(self, **changes: Any) -> "Settings":
        """A copy with the changes that are not None, checked again.

        Raises:
            ConfigError: One has no sensible value; names it and what to write.
        """
        given = {key: value for key, value in changes.items() if value is not None}
        try:
            return self.model_validate({**self.model_dump(), **given}) if given else self
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            name = str(fault["loc"][0])
            said = word_fault(fault)
            if fault["type"] == "path_type":
                said = f"write the path of a file or folder, not {kind_of(given.get(name))}"
            # what pydantic says quotes the value, so its error is not kept as the cause
            raise ConfigError(f"{name}: {said}") from None


def kind_of(value: object) -> str:
    """The type of a value in plain words, for messages."""
    known: dict[type, str] = {
        dict: "a mapping",
        list: "a list",
        tuple: "a list",
        str: "a text",
        bytes: "bytes",
    }
    return known.get(type(value)) or f"a value of type {type(value).__name__}"


def environ() -> Mapping[str, str]:
    """The process's environment."""
    return os.environ  # noqa: TID251 - the one place

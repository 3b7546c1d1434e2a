"""Settings of the process: `PEGBOARD_*` variables; the only place that reads the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from pegboard.core.suggestions import nearest_names
from pegboard.errors import ConfigError

PREFIX = "PEGBOARD_"


class Settings(BaseModel):
    """The settings of the process; each is read from the variable `PEGBOARD_` and its name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    board: Annotated[Path | None, Field(description="The board file.")] = None
    data: Annotated[
        Path | None,
        Field(description="The data directory; without one nothing outlives the process."),
    ] = None
    database: Annotated[
        SecretStr | None,
        Field(
            description="A PostgreSQL database shared by servers, as "
            "`postgresql://user@host/name`; the default is SQLite in the data "
            "directory."
        ),
    ] = None
    host: Annotated[str, Field(description="The address the server listens on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="The server's port; 0 picks one.")] = (
        8321
    )
    token: Annotated[
        SecretStr | None,
        Field(description="The bearer token that callers of the server must send."),
    ] = None
    log: Annotated[
        str, Field(description="JSON log lines: `off`, `stdout`, `stderr` or a file.")
    ] = "off"
    traces: Annotated[
        bool, Field(description="OpenTelemetry spans, through the globally configured provider.")
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
    max_request_bytes: Annotated[
        int, Field(gt=0, description="The largest request body that the server reads.")
    ] = 10_000_000
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
            description="The audit trail of changes and refusals; `reads` adds every call, "
            "`auto` is on where data is stored."
        ),
    ] = "auto"
    audit_required: Annotated[
        bool,
        Field(
            description="Write calls, decisions and changes of the board to the audit trail "
            "before they take effect, and refuse them while it cannot be written."
        ),
    ] = False
    keep_history_days: Annotated[
        float,
        Field(ge=0, description="Days that calls are kept in the history; 0 for ever."),
    ] = 90.0
    keep_runs_days: Annotated[
        float, Field(ge=0, description="Days that finished runs are kept; 0 for ever.")
    ] = 90.0
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
        Literal["on", "off"],
        Field(description="Whether the server reloads the board file when it changes."),
    ] = "on"

    @field_validator("database")
    @classmethod
    def _is_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        schemes = ("postgresql://", "postgres://")
        if value is not None and not value.get_secret_value().startswith(schemes):
            raise ValueError("write postgresql://user:password@host:port/name")
        return value

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
            raise ConfigError(f"{name}: {fault['msg']}") from error

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
            said = fault["msg"]
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

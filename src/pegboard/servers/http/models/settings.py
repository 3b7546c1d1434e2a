"""The answer of `GET /settings`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_CLOSED = ConfigDict(extra="forbid")


class DoorRow(BaseModel):
    """A way into the server."""

    model_config = _CLOSED

    name: Literal["rest", "console", "mcp", "websocket", "openai", "oidc", "oauth"]
    path: str
    open: bool
    guard: Annotated[
        Literal["none", "token", "accounts"],
        Field(description="What callers need: nothing but this machine, the token, an account."),
    ]
    setting: Annotated[str, Field(description="The variable that opens it; empty for none.")]


class SettingRow(BaseModel):
    """A setting with its value in force."""

    model_config = _CLOSED

    name: str
    variable: Annotated[str, Field(description="The environment variable that sets it.")]
    group: Literal[
        "server", "storage", "people", "models", "calls", "limits", "records", "services"
    ]
    description: str
    value: Annotated[JsonValue, Field(description="Null for a secret, and for nothing.")]
    is_secret: bool
    is_set: bool
    origin: Annotated[
        Literal["default", "environment", "program"],
        Field(
            description="`program`: a flag of the command, or the program that opened the board."
        ),
    ]
    is_overridden: Annotated[bool, Field(description="Whether its variable has another value.")]


class SectionRow(BaseModel):
    """What the board file sets."""

    model_config = _CLOSED

    name: Annotated[str, Field(description="The key in the file.")]
    place: Annotated[str, Field(description="`file:line`.")]
    entries: Annotated[int | None, Field(description="Null for what is no list or mapping.")]


class SettingsAnswer(BaseModel):
    """What a server runs with."""

    model_config = _CLOSED

    version: str
    board: Annotated[str, Field(description="The board file; empty without one.")]
    data: Annotated[str, Field(description="Where data are stored, without a password.")]
    problem: Annotated[
        str, Field(description="Why the last change of the board file was refused, for example.")
    ]
    doors: list[DoorRow]
    settings: Annotated[list[SettingRow], Field(description="By group.")]
    sections: Annotated[list[SectionRow], Field(description="What the board file sets.")]

"""Requests and responses about the caller's own account."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, model_validator

from pegboard.core.ports.accounts.identity_store import BrowserClient, User
from pegboard.features.identity.own_account import OpenSession
from pegboard.features.identity.rules import MAX_PASSWORD, MIN_PASSWORD
from pegboard.features.identity.schemas import PersonAnswer, person_to_dict

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")
_NO_PASSWORD: dict[str, JsonValue] = {
    "properties": {"current_password": {"type": "null"}, "new_password": {"type": "null"}}
}
_BOTH_PASSWORDS: dict[str, JsonValue] = {
    "properties": {"current_password": {"type": "string"}, "new_password": {"type": "string"}},
    "required": ["current_password", "new_password"],
}
_PASSWORDS_TOGETHER = ConfigDict(json_schema_extra={"anyOf": [_NO_PASSWORD, _BOTH_PASSWORDS]})


class ChangeAccount(BaseModel):
    """What people change of their own account; what is left out stays."""

    model_config = _CLOSED | ConfigDict(
        json_schema_extra={"anyOf": [_NO_PASSWORD, _BOTH_PASSWORDS]}
    )

    name: Annotated[
        str | None, Field(max_length=200, description="For display; empty for the handle.")
    ] = None
    current_password: Annotated[
        SecretStr | None,
        Field(max_length=MAX_PASSWORD, description="The password until now."),
    ] = None
    new_password: Annotated[
        SecretStr | None,
        Field(
            min_length=MIN_PASSWORD,
            max_length=MAX_PASSWORD,
            description="The new password; needs `current_password`.",
        ),
    ] = None

    @model_validator(mode="after")
    def _has_both_passwords(self) -> Self:
        if (self.current_password is None) != (self.new_password is None):
            raise ValueError("current_password and new_password belong together")
        return self


class AccountAnswer(PersonAnswer):
    """Your own account."""

    has_password: Annotated[
        bool, Field(description="Whether you sign in with a password here, and not elsewhere.")
    ]


class ClientAnswer(BaseModel):
    """Where a request of a session came from."""

    model_config = _ANSWER

    address: Annotated[str, Field(description="The IP address; empty where it is not known.")]
    browser: Annotated[
        str, Field(description="Browser and system, as it says; empty for one that is not known.")
    ]


class OpenSessionAnswer(BaseModel):
    """A browser in which you are signed in."""

    model_config = _ANSWER

    id: str
    signed_in_at: Annotated[float, Field(description="Unix seconds.")]
    signed_in_from: ClientAnswer
    used_at: Annotated[
        float | None,
        Field(description="Unix seconds of its last use, exact to a minute; null if not known."),
    ]
    used_from: Annotated[ClientAnswer, Field(description="Where its last use came from.")]
    expires_at: Annotated[float, Field(description="Unix seconds.")]
    current: Annotated[bool, Field(description="Whether the request came from it.")]


class SessionList(BaseModel):
    """The browsers in which you are signed in, the newest first."""

    model_config = _ANSWER

    sessions: list[OpenSessionAnswer]


def account_to_dict(user: User) -> dict[str, Any]:
    """Return an `AccountAnswer`."""
    return person_to_dict(user) | {"has_password": bool(user.password)}


def session_to_dict(session: OpenSession) -> dict[str, Any]:
    """Return an `OpenSessionAnswer`."""
    return {
        "id": session.id,
        "signed_in_at": session.signed_in_at,
        "signed_in_from": _client_to_dict(session.signed_in_from),
        "used_at": session.used_at,
        "used_from": _client_to_dict(session.used_from),
        "expires_at": session.expires_at,
        "current": session.is_current,
    }


def _client_to_dict(client: BrowserClient) -> dict[str, Any]:
    return {"address": client.address, "browser": client.browser}

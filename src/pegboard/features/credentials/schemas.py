"""Requests and responses about credentials; no response has a value."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from pegboard.core.credential import DEFAULT_NAME, Credential
from pegboard.features.credentials.service import CredentialChange, NewCredential

_CLOSED = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

SourceName = Annotated[
    str, Field(min_length=1, max_length=64, description="The name of the source.")
]
Name = Annotated[
    str,
    Field(min_length=1, max_length=100, description="Your name for this account of the system."),
]
Value = Annotated[
    SecretStr,
    Field(
        min_length=1,
        max_length=16_000,
        description="The token, the key, the password, or the secret of a client.",
    ),
]
Username = Annotated[str, Field(max_length=1000, description="Of a password; of a client its id.")]
Shared = Annotated[
    bool,
    Field(
        description="Whether all who may call the source act with it who have none of their own; "
        "for the owner of the source and for operators."
    ),
]
StoredKind = Literal["bearer", "api_key", "basic", "oauth2_client"]


class AddCredential(BaseModel):
    """A credential to store."""

    model_config = _CLOSED

    source: SourceName
    kind: Annotated[StoredKind, Field(description="What it is; the source takes some of these.")]
    value: Value
    username: Username = ""
    name: Name = DEFAULT_NAME
    shared: Shared = False
    is_default: Annotated[
        bool, Field(description="Whether your calls use it; the first one is the default.")
    ] = False
    expires_at: Annotated[
        float | None, Field(gt=0, description="Unix seconds; null for never, or unknown.")
    ] = None

    def to_new(self) -> NewCredential:
        """As the service takes it."""
        return NewCredential(
            source=self.source,
            kind=self.kind,
            value=self.value.get_secret_value(),
            username=self.username,
            name=self.name,
            shared=self.shared,
            is_default=self.is_default,
            expires_at=self.expires_at,
        )


class ChangeCredential(BaseModel):
    """What to change of a credential; what is left out stays."""

    model_config = _CLOSED

    name: Name | None = None
    shared: Shared | None = None
    is_default: Annotated[
        Literal[True] | None, Field(description="Makes it the default, in place of another one.")
    ] = None
    value: Value | None = None
    username: Username | None = None

    def to_change(self) -> CredentialChange:
        """As the service takes it."""
        return CredentialChange(
            name=self.name,
            shared=self.shared,
            is_default=self.is_default,
            value=None if self.value is None else self.value.get_secret_value(),
            username=self.username,
        )


class StartConnection(BaseModel):
    """An account to connect by consent."""

    model_config = _CLOSED

    source: SourceName
    name: Name = DEFAULT_NAME
    shared: Shared = False


class CredentialAnswer(BaseModel):
    """A credential, without its value."""

    model_config = ConfigDict(extra="forbid")

    id: str
    owner: Annotated[str, Field(description="The id of an account, or `local`.")]
    source: str
    name: str
    kind: Literal["bearer", "api_key", "basic", "oauth2_client", "oauth2"]
    shared: bool
    is_default: bool
    state: Annotated[
        Literal["ok", "reconnect"],
        Field(description="`reconnect`: the system no longer accepts it."),
    ]
    reason: Annotated[str, Field(description="Why.")]
    identity: Annotated[
        str, Field(description="The account, as the system has confirmed it; empty if unknown.")
    ]
    created_at: Annotated[float, Field(description="Unix seconds.")]
    used_at: Annotated[float | None, Field(description="Exact to a minute; null for never.")]
    expires_at: Annotated[
        float | None, Field(description="Null for never, or unknown; tokens are renewed before.")
    ]


class CredentialList(BaseModel):
    """Your credentials."""

    model_config = ConfigDict(extra="forbid")

    credentials: list[CredentialAnswer]


class RotationAnswer(BaseModel):
    """How many credentials had an older master key."""

    model_config = ConfigDict(extra="forbid")

    rotated: int


class StartedConnectionAnswer(BaseModel):
    """Where you consent, in the same browser."""

    model_config = ConfigDict(extra="forbid")

    url: str


def credential_to_dict(about: Credential) -> dict[str, Any]:
    """Return a `CredentialAnswer`."""
    return {name: getattr(about, name) for name in CredentialAnswer.model_fields}

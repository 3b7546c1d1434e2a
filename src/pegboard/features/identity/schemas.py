"""Requests and responses about accounts, organisations and keys."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from pegboard.core.ports.accounts.identity_store import ApiKey, OneTimeLink, Organisation, User
from pegboard.core.ports.accounts.role_store import Level, OwnRole
from pegboard.core.principal import Principal
from pegboard.features.identity.accounts import NewLink
from pegboard.features.identity.oauth_grants import renewable_until
from pegboard.features.identity.organisations import Member
from pegboard.features.identity.own_roles import MAX_LEVELS, ROLE_NAME
from pegboard.features.identity.rules import HANDLE, MAX_PASSWORD, MIN_PASSWORD

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")

Handle = Annotated[
    str,
    Field(
        pattern=f"^{HANDLE.pattern}$",
        description="Stands in names, and is never given again: 2 to 12 characters of a-z and 0-9.",
    ),
]
Text = Annotated[str, Field(max_length=200, description="For display.")]
Login = Annotated[
    str, Field(min_length=1, max_length=254, description="A handle, or an e-mail address.")
]
Password = Annotated[SecretStr, Field(max_length=MAX_PASSWORD, description="The password.")]
LinkToken = Annotated[
    SecretStr, Field(max_length=100, description="The text after `#link=` of a one-time link.")
]
NewPassword = Annotated[
    SecretStr, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD, description="A password.")
]
Role = Annotated[
    str,
    Field(
        pattern=f"^{ROLE_NAME.pattern}$",
        description="`administrator`, `approver`, `editor`, `member`, or one that the organisation "
        "defines.",
    ),
]


class MakeLink(BaseModel):
    """A one-time link to make; empty before the first account, for which it then is."""

    model_config = _CLOSED

    person: Annotated[
        str,
        Field(max_length=254, description="Who gets a new password: a handle or e-mail address."),
    ] = ""
    organisation: Annotated[
        str, Field(max_length=12, description="The organisation that a new person joins.")
    ] = ""
    roles: Annotated[
        list[Role], Field(max_length=10, description="Roles there; none means `member`.")
    ] = Field(default_factory=list[Role])


class OpenLink(BaseModel):
    """A one-time link that a person has opened."""

    model_config = _CLOSED

    link: LinkToken


class Join(BaseModel):
    """What a person chooses who makes an account with a link."""

    model_config = _CLOSED

    link: LinkToken
    handle: Handle
    password: NewPassword
    name: Text = ""
    email: Annotated[str, Field(max_length=254, description="To sign in with.")] = ""
    organisation: Annotated[
        str,
        Field(
            max_length=12, description="Handle of the organisation that the first account founds."
        ),
    ] = ""
    organisation_title: Text = ""


class ChangePerson(BaseModel):
    """Keep a person out or let one in, and name an operator or take that back."""

    model_config = _CLOSED

    disabled: Annotated[
        bool | None, Field(description="Whether the person is kept out; null leaves it.")
    ] = None
    operator: Annotated[
        bool | None, Field(description="Whether the person is an operator; null leaves it.")
    ] = None


class MakeKey(BaseModel):
    """A key to make."""

    model_config = _CLOSED

    name: Annotated[str, Field(min_length=1, max_length=100, description="For display.")]
    scopes: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]],
        Field(max_length=50, description="At most these; `*` means all that the person may."),
    ] = Field(default_factory=lambda: ["*"])
    days: Annotated[
        int | None, Field(ge=1, le=3650, description="Days until it expires; null for never.")
    ] = None


class FoundOrganisation(BaseModel):
    """An organisation to found."""

    model_config = _CLOSED

    handle: Handle
    title: Text = ""


class MakeService(BaseModel):
    """A service account of an organisation to make."""

    model_config = _CLOSED

    handle: Handle
    name: Text = ""
    roles: Annotated[
        list[Literal["administrator", "editor", "member"]], Field(min_length=1, max_length=10)
    ] = Field(default_factory=lambda: ["member"])


class ActFor(BaseModel):
    """The organisation that a session acts for."""

    model_config = _CLOSED

    organisation: Annotated[
        str, Field(max_length=64, description="One of yours; empty for your own choice.")
    ]


RequestId = Annotated[
    SecretStr, Field(max_length=100, description="The text after `#request=` of the address.")
]


class OpenRequest(BaseModel):
    """A request of an OAuth client that a person has opened."""

    model_config = _CLOSED

    request: RequestId


class DecideRequest(OpenRequest):
    """A person's decision about the request of a client."""

    allow: Annotated[bool, Field(description="Whether the client is let in.")]


class ApproveMember(BaseModel):
    """The roles of a member; a person who waits is let in with them."""

    model_config = _CLOSED

    roles: Annotated[list[Role], Field(min_length=1, max_length=10)]


class DefineRole(BaseModel):
    """What a role of an organisation may do, by source or pattern."""

    model_config = _CLOSED

    levels: Annotated[
        dict[str, Level],
        Field(
            min_length=1,
            max_length=MAX_LEVELS,
            description="By source, or glob over names of tools. `read` calls tools that read, "
            "`write` those that write too, `admin` all; the policy decides after that.",
        ),
    ]
    title: Text = ""


class RoleAnswer(BaseModel):
    """A role that an organisation has defined."""

    model_config = _ANSWER

    name: str
    title: str
    levels: Annotated[dict[str, Level], Field(description="By source, or glob over tools.")]
    changed_at: Annotated[float, Field(description="Unix seconds.")]


class RoleList(BaseModel):
    """The roles that an organisation has defined, by name."""

    model_config = _ANSWER

    roles: list[RoleAnswer]


class PersonAnswer(BaseModel):
    """A person with an account."""

    model_config = _ANSWER

    handle: str
    name: str
    email: str
    operator: bool
    service: Annotated[bool, Field(description="Whether it is a service account.")]
    disabled: bool
    created_at: Annotated[float, Field(description="Unix seconds.")]


class PersonList(BaseModel):
    """The people that the caller may see, by handle."""

    model_config = _ANSWER

    people: list[PersonAnswer]


class LinkAnswer(BaseModel):
    """A new link; its token is shown once."""

    model_config = _ANSWER

    path: Annotated[str, Field(description="The link, without the address of the server.")]
    url: Annotated[str, Field(description="The link; empty without PEGBOARD_PUBLIC_URL.")]
    purpose: Literal["first", "sign_in", "invitation"]
    expires_at: Annotated[float, Field(description="Unix seconds.")]


class OpenedLink(BaseModel):
    """What a link is for."""

    model_config = _ANSWER

    purpose: Literal["first", "sign_in", "invitation"]
    organisation: Annotated[str, Field(description="That the person joins; empty for none.")]
    handle: Annotated[str, Field(description="Of the account of a new password; else empty.")]
    expires_at: Annotated[float, Field(description="Unix seconds.")]


class RequestAnswer(BaseModel):
    """What an OAuth client asks a person for."""

    model_config = _ANSWER

    client: Annotated[str, Field(description="Its id, or the address that describes it.")]
    name: Annotated[str, Field(description="As it calls itself; not verified.")]
    redirect: Annotated[str, Field(description="The host that the person is sent back to.")]
    scopes: list[str]


class DecidedRequest(BaseModel):
    """Where the person goes after the decision."""

    model_config = _ANSWER

    url: str


class KeyAnswer(BaseModel):
    """A key of the caller."""

    model_config = _ANSWER

    id: str
    name: str
    hint: Annotated[str, Field(description="Its first characters.")]
    scopes: list[str]
    client: Annotated[str, Field(description="The MCP client that has it; empty for none.")]
    created_at: Annotated[float, Field(description="Unix seconds.")]
    expires_at: Annotated[float | None, Field(description="Unix seconds; null for never.")]
    renewable_until: Annotated[
        float | None,
        Field(
            description="Unix seconds until which its MCP client may renew it, also after it has "
            "expired; null for a key that cannot be renewed."
        ),
    ]
    used_at: Annotated[float | None, Field(description="Unix seconds; null if it was not used.")]
    revoked_at: Annotated[float | None, Field(description="Unix seconds; null if it is valid.")]


class NewKeyAnswer(KeyAnswer):
    """A new key; it is shown once."""

    key: str


class KeyList(BaseModel):
    """The keys of the caller, in the order in which they were made."""

    model_config = _ANSWER

    keys: list[KeyAnswer]


class OrganisationAnswer(BaseModel):
    """An organisation of the caller."""

    model_config = _ANSWER

    handle: str
    title: str
    roles: Annotated[list[str], Field(description="The caller's roles in it.")]
    waiting: Annotated[
        int, Field(description="People who wait to be let in; 0 unless the caller decides that.")
    ]
    created_at: Annotated[float, Field(description="Unix seconds.")]


class OrganisationList(BaseModel):
    """The organisations of the caller, by handle."""

    model_config = _ANSWER

    organisations: list[OrganisationAnswer]


class MemberAnswer(BaseModel):
    """A member of an organisation, or a person who waits."""

    model_config = _ANSWER

    handle: str
    name: str
    email: str
    roles: list[str]
    state: Literal["waiting", "approved"]
    disabled: bool
    created_at: Annotated[float, Field(description="Unix seconds.")]


class MemberList(BaseModel):
    """The members of an organisation, by handle."""

    model_config = _ANSWER

    members: list[MemberAnswer]


def person_to_dict(user: User) -> dict[str, Any]:
    """Return a `PersonAnswer`."""
    return {
        "handle": user.handle,
        "name": user.name,
        "email": user.email,
        "operator": user.is_operator,
        "service": user.is_service,
        "disabled": user.disabled_at is not None,
        "created_at": user.created_at,
    }


def link_to_dict(new: NewLink, *, public_url: str) -> dict[str, Any]:
    """Return a `LinkAnswer`. The token stands after `#`, which browsers send to no server."""
    path = f"/ui/join#link={new.token}"
    return {
        "path": path,
        "url": f"{public_url.rstrip('/')}{path}" if public_url else "",
        "purpose": new.link.purpose,
        "expires_at": new.link.expires_at,
    }


def describe_link(link: OneTimeLink, user: User | None) -> dict[str, Any]:
    """Return an `OpenedLink`."""
    return {
        "purpose": link.purpose,
        "organisation": link.organisation,
        "handle": user.handle if user else "",
        "expires_at": link.expires_at,
    }


def key_to_dict(key: ApiKey) -> dict[str, Any]:
    """Return a `KeyAnswer`."""
    return {
        "id": key.id,
        "name": key.name,
        "hint": key.hint,
        "scopes": list(key.scopes),
        "client": key.client,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "renewable_until": renewable_until(key),
        "used_at": key.used_at,
        "revoked_at": key.revoked_at,
    }


def organisations_to_dict(
    organisations: Sequence[Organisation], principal: Principal, waiting: Mapping[str, int]
) -> dict[str, Any]:
    """Return an `OrganisationList`."""
    found = [
        organisation_to_dict(item, principal, waiting=waiting.get(item.handle, 0))
        for item in organisations
    ]
    return {"organisations": found}


def organisation_to_dict(
    organisation: Organisation, principal: Principal, *, waiting: int = 0
) -> dict[str, Any]:
    """Return an `OrganisationAnswer`."""
    start = f"{organisation.handle}/"
    return {
        "handle": organisation.handle,
        "title": organisation.title,
        "roles": sorted(
            role.removeprefix(start) for role in principal.roles if role.startswith(start)
        ),
        "waiting": waiting,
        "created_at": organisation.created_at,
    }


def role_to_dict(role: OwnRole) -> dict[str, Any]:
    """Return a `RoleAnswer`."""
    return {
        "name": role.name,
        "title": role.title,
        "levels": dict(role.levels),
        "changed_at": role.changed_at,
    }


def member_to_dict(member: Member) -> dict[str, Any]:
    """Return a `MemberAnswer`."""
    return {
        "handle": member.user.handle,
        "name": member.user.name,
        "email": member.user.email,
        "roles": list(member.membership.roles),
        "state": member.membership.state,
        "disabled": member.user.disabled_at is not None,
        "created_at": member.membership.created_at,
    }

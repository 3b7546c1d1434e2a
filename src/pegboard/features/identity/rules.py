"""The rules of accounts: handles, e-mail addresses, passwords, and what roles may do."""

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from pegboard.access.key_scopes import READ_SCOPE, WRITE_SCOPE
from pegboard.access.roles import ADMINISTRATOR, APPROVER, EDITOR, MEMBER
from pegboard.core.ports.accounts.identity_store import ApiKey, Membership, User
from pegboard.core.ports.accounts.role_store import OwnRole
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.features.permissions import APPROVALS_SCOPE, KEY_SCOPES, PEOPLE_SCOPE

HANDLE = re.compile(r"[a-z][a-z0-9]{1,11}")
MIN_PASSWORD = 10
MAX_PASSWORD = 200

_ROLE_SCOPES = {
    ADMINISTRATOR: (APPROVALS_SCOPE, PEOPLE_SCOPE, READ_SCOPE),
    APPROVER: (APPROVALS_SCOPE,),
    EDITOR: (READ_SCOPE, WRITE_SCOPE),
    MEMBER: (READ_SCOPE,),
}
_OWN_ROLE_SCOPES = (READ_SCOPE, WRITE_SCOPE)
_RESERVED = frozenset(
    {"board", "global", "join", "link", "links", "local", "operator", "pegboard", "system", "token"}
)
_EMAIL = re.compile(r"[^@\s/\x00-\x1f]{1,64}@[^@\s/\x00-\x1f]{1,190}")


def check_handle(handle: str) -> str:
    """Check a new handle.

    Raises:
        InvalidRequest: It breaks the rule, or is reserved.
    """
    if HANDLE.fullmatch(handle) is None:
        raise InvalidRequest(
            f"'{handle[:40]}' cannot be a handle: it has 2 to 12 characters of a-z and 0-9, and "
            "starts with a letter."
        )
    if handle in _RESERVED:
        raise InvalidRequest(f"'{handle}' is reserved: choose another handle.")
    return handle


def check_email(email: str) -> str:
    """Check an e-mail address and return it in lower case.

    Raises:
        InvalidRequest: It is none.
    """
    if email and _EMAIL.fullmatch(email) is None:
        raise InvalidRequest("The e-mail address is not valid.")
    return email.lower()


def check_password(password: str) -> str:
    """Check a new password.

    Raises:
        InvalidRequest: It is too short or too long.
    """
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise InvalidRequest(f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.")
    return password


def check_roles(roles: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Check the roles of a member and return them sorted.

    Args:
        roles: The roles.
        known: Those that there are in the organisation.

    Raises:
        InvalidRequest: One of them does not exist, or there is none.
    """
    given = tuple(sorted(set(roles)))
    unknown = [role for role in given if role not in known]
    if unknown or not given:
        what = f"There is no role '{unknown[0][:40]}'" if unknown else "A member has a role"
        raise InvalidRequest(f"{what}: choose from {', '.join(known)}.")
    return given


def check_key_scopes(
    scopes: Iterable[str], organisations: Collection[str], *, is_operator: bool
) -> None:
    """Check what a key is to be made with: a misspelt scope would allow nothing, without a word.

    Tools and the policy may ask for scopes of their own, which operators alone have.

    Args:
        scopes: The scopes; `organisation/scope` is a scope in one organisation alone.
        organisations: Those of the account.
        is_operator: Whether the account is an operator's.

    Raises:
        InvalidRequest: There is no such scope, or the account can never have it.
    """
    for scope in scopes:
        organisation, slash, name = scope.rpartition("/")
        is_known = name in KEY_SCOPES and not (slash and name == "*")
        is_own = not slash or organisation in organisations
        if is_known and is_own:
            continue
        near = get_close_matches(name, KEY_SCOPES, n=1, cutoff=0.8)
        if is_operator and not near and not slash:
            continue
        if is_known:
            reason = f"the account is in no organisation '{organisation[:40]}'"
        else:
            reason = f"did you mean '{near[0]}'" if near else f"known are {', '.join(KEY_SCOPES)}"
        raise InvalidRequest(f"A key cannot be made with the scope '{scope[:100]}': {reason}.")


def principal_of(
    user: User,
    memberships: Iterable[Membership],
    *,
    own: Iterable[OwnRole] = (),
    key: ApiKey | None = None,
    organisation: str = "",
) -> Principal:
    """The principal of an account, with the rights that its roles have now.

    Args:
        user: The account.
        memberships: Its memberships.
        own: The roles that its organisations define themselves.
        key: The key that was sent, which narrows the scopes; None for a session.
        organisation: That it acts for; empty, or one that it is no member of, for its own choice.
            What is counted and shared follows it, and never what the account may do.
    """
    approved = [item for item in memberships if item.state == "approved"]
    scopes = {"*"} if user.is_operator else set[str]()
    for item in approved:
        for role in item.roles:
            scopes |= {f"{item.organisation}/{scope}" for scope in _ROLE_SCOPES.get(role, ())}
    organisations = frozenset(item.organisation for item in approved)
    given = {(item.organisation, role) for item in approved for role in item.roles}
    held = [role for role in own if (role.organisation, role.name) in given]
    # the levels say for which tools
    scopes |= {f"{role.organisation}/{scope}" for role in held for scope in _OWN_ROLE_SCOPES}
    levels = {
        (f"{role.organisation}/{pattern}", level)
        for role in held
        for pattern, level in role.levels.items()
    }
    choices = (name for name in (organisation, user.organisation) if name in organisations)
    return Principal(
        id=user.id,
        kind=_kind_of(user, key),
        tenant=next(choices, ""),
        scopes=frozenset(scopes if key is None else _narrow(scopes, key.scopes)),
        roles=frozenset(f"{item.organisation}/{role}" for item in approved for role in item.roles),
        levels=tuple(sorted(levels)),
        user=user.id,
        organisations=organisations,
        key="" if key is None else key.id,
    )


def _kind_of(user: User, key: ApiKey | None) -> str:
    if user.is_service:
        return "service"
    if key is None:
        return "user"
    return "key" if APPROVALS_SCOPE in key.scopes and not key.client else "agent"


def _narrow(scopes: set[str], allowed: tuple[str, ...]) -> set[str]:
    """The scopes of a key: never more than those of its person.

    Approvals have to be named, since agents hold keys.
    """
    if "*" in scopes:
        if "*" not in allowed:
            return set(allowed)
        own = {APPROVALS_SCOPE} if APPROVALS_SCOPE in allowed else set[str]()
    else:  # what is one's own needs no role, so that no organisation gives its scopes
        own = {f"/{it}" for it in _OWN_ROLE_SCOPES if "*" in allowed or it in allowed}
    return own | {scope for scope in scopes if _is_among(scope, allowed)}


def _is_among(scope: str, allowed: tuple[str, ...]) -> bool:
    plain = scope.partition("/")[2] or scope
    if "*" in allowed and plain != APPROVALS_SCOPE:
        return True
    return scope in allowed or plain in allowed

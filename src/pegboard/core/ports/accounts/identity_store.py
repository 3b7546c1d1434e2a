"""The identity store port: accounts, organisations, and what people sign in with.

A secret (a key, a session, a link) is stored as its digest alone. Handles and e-mail addresses are
claimed once and never given again, also when their account or organisation is gone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, structs

FIRST_USER = "local"
"""The id of the first account: it owns what the principal `local`
owned, without a changed row."""

KEY_PREFIX = "pegboard_"
"""What each key starts with, so that secret scanners find one that was published by mistake."""

USES = frozenset({"used_at", "used_from"})
"""Fields of a key or session that change with a use, and no right with them."""

MembershipState = Literal["waiting", "approved"]
LinkPurpose = Literal["first", "sign_in", "invitation"]


class User(Struct, frozen=True, kw_only=True):
    """An account of a person.

    Attributes:
        id: Unique on the server, and never given again.
        handle: Stands in the names of what it owns; also a name to sign in with.
        name: For display.
        email: To sign in with, in lower case; empty for none.
        password: The argon2 hash; empty for none.
        is_operator: Whether the person operates this server.
        organisation: The organisation that the person acts for; empty for none.
        created_at: Unix seconds.
        disabled_at: Unix seconds; None while the person may sign in.
        is_service: Whether it is a service account of its organisation: it has keys and no
            password.
    """

    id: str
    handle: str
    name: str
    created_at: float
    email: str = ""
    password: str = ""
    is_operator: bool = False
    organisation: str = ""
    disabled_at: float | None = None
    is_service: bool = False


class PersonChange(Struct, frozen=True, kw_only=True):
    """What an operator changes of an account; None leaves it.

    Attributes:
        disabled: Whether the person is kept out.
        operator: Whether the person operates this server.
    """

    disabled: bool | None = None
    operator: bool | None = None


class Organisation(Struct, frozen=True, kw_only=True):
    """An organisation.

    Attributes:
        handle: Its name in the names of what it owns; its id.
        title: For display.
        created_at: Unix seconds.
        created_by: The id of a user.
    """

    handle: str
    title: str
    created_at: float
    created_by: str


class Membership(Struct, frozen=True, kw_only=True):
    """A person in an organisation.

    Attributes:
        organisation: Its handle.
        user: The id of the user.
        roles: Roles there, sorted.
        state: `waiting` until an administrator approves; without any role until then.
        created_at: Unix seconds.
        decided_by: The id of the user who approved; empty while it waits.
    """

    organisation: str
    user: str
    created_at: float
    roles: tuple[str, ...] = ()
    state: MembershipState = "waiting"
    decided_by: str = ""


class ApiKey(Struct, frozen=True, kw_only=True):
    """A key of a person's program.

    Attributes:
        digest: Of the key.
        hint: Its first characters, for display.
        scopes: What it may do, at most; `*` means all that its person may.
        created_at: Unix seconds.
        expires_at: Unix seconds; None for never.
        used_at: Unix seconds of its last use, exact to a minute; None for never.
        revoked_at: Unix seconds; None while it is valid.
        audience: The address of the MCP endpoint that alone accepts it; empty for a key that all
            doors accept.
        client: The client that a person has let in, for one that came by OAuth; else empty.
    """

    id: str
    digest: str
    user: str
    name: str
    hint: str
    created_at: float
    scopes: tuple[str, ...] = ("*",)
    expires_at: float | None = None
    used_at: float | None = None
    revoked_at: float | None = None
    audience: str = ""
    client: str = ""


class BrowserClient(Struct, frozen=True, kw_only=True):
    """Where a request of a session came from.

    Attributes:
        address: The IP address; empty where the server does not know it.
        browser: The browser and the system that it says it is, from a fixed list of names; empty
            for others.
    """

    address: str = ""
    browser: str = ""


UNKNOWN_CLIENT = BrowserClient()


class UserSession(Struct, frozen=True, kw_only=True):
    """A browser in which a person has signed in.

    Attributes:
        digest: Of the cookie.
        created_at: Unix seconds: when the cookie was made.
        expires_at: Unix seconds.
        id: The same for all cookies of a session, which are replaced from time to time; empty for
            the digest.
        replaced: Whether there is a newer cookie; this one is valid for a moment more.
        organisation: That the person acts for; empty for the person's own choice.
        signed_in_from: Where the person signed in.
        used_at: Unix seconds of its last use, exact to a minute; None for never.
        used_from: Where its last use came from.
    """

    digest: str
    user: str
    created_at: float
    expires_at: float
    id: str = ""
    replaced: bool = False
    organisation: str = ""
    signed_in_from: BrowserClient = UNKNOWN_CLIENT
    used_at: float | None = None
    used_from: BrowserClient = UNKNOWN_CLIENT

    @property
    def name(self) -> str:
        """What all cookies of the session share."""
        return self.id or self.digest


def replace_cookie(stored: UserSession, new: UserSession) -> UserSession:
    """A session as it is stored, with the cookie of another."""
    return structs.replace(
        stored,
        digest=new.digest,
        created_at=new.created_at,
        expires_at=new.expires_at,
        id=new.name,
    )


class OneTimeLink(Struct, frozen=True, kw_only=True):
    """A one-time link.

    Attributes:
        digest: Of its token.
        purpose: `first` makes the first account, `invitation` one more, `sign_in` gives an account
            a new password.
        user: The account of a `sign_in`; empty else.
        organisation: The organisation that an invited person joins; empty for none.
        roles: Roles there.
        created_at: Unix seconds.
        created_by: The caller who made it, as `tenant/principal`.
        maker: The id of the account that made it; empty for `local`.
        expires_at: Unix seconds.
        used_at: Unix seconds; None while it can be used.
    """

    digest: str
    purpose: LinkPurpose
    created_at: float
    created_by: str
    expires_at: float
    user: str = ""
    organisation: str = ""
    roles: tuple[str, ...] = ()
    used_at: float | None = None
    maker: str = ""


class TemporaryRecord(Struct, frozen=True, kw_only=True):
    """Something that is kept for a time: a ticket, a code, a client that has registered.

    Attributes:
        kind: What it is; ids of different kinds are independent.
        id: Of a secret its digest.
        expires_at: Unix seconds.
        body: A JSON object.
    """

    kind: str
    id: str
    expires_at: float
    body: Mapping[str, Any] = {}


class LinkedIdentity(Struct, frozen=True, kw_only=True):
    """A person at an identity provider, whose account is one of ours.

    Attributes:
        issuer: The provider.
        subject: The person's id there; unique and never given again, unlike an e-mail address.
    """

    issuer: str
    subject: str
    user: str
    created_at: float


class NewIdentity(Struct, frozen=True, kw_only=True):
    """What is stored together, or not at all.

    Attributes:
        at: Unix seconds: now.
        link: The digest of a link that is used up with it; empty for none.
        user: A new account.
        organisation: A new organisation.
        memberships: Added, or put in place of those of the same person and organisation.
        linked: The person at an identity provider.
        keeps_administrator: Whether the memberships may not take the last administrator from their
            organisation.
    """

    at: float
    link: str = ""
    user: User | None = None
    organisation: Organisation | None = None
    memberships: tuple[Membership, ...] = ()
    linked: LinkedIdentity | None = None
    keeps_administrator: bool = False

    @property
    def claims(self) -> tuple[str, ...]:
        """The names that it claims: handles, and the e-mail address, which has an `@`."""
        user, organisation = self.user, self.organisation
        names = () if user is None else (user.handle, user.email)
        return tuple(filter(None, (*names, organisation.handle if organisation else "")))


class IdentityStore(Protocol):
    """Stores accounts and organisations. Each method raises `Unavailable` when it cannot."""

    async def has_users(self) -> bool:
        """Whether there is an account."""
        ...

    async def revision(self) -> int:
        """A number that grows with each change of what callers may do."""
        ...

    async def add(self, new: NewIdentity) -> None:
        """Store an account, an organisation and memberships in one transaction.

        Raises:
            InvalidRequest: A handle, the e-mail address, the user's id or the person at the
                identity provider is taken; or an organisation would have no administrator left.
            AccountNotFound: The link was used before, has expired, or is none.
        """
        ...

    async def user(self, id: str) -> User | None:  # noqa: A002 - it is known by its id
        """One account."""
        ...

    async def find_user(self, login: str) -> User | None:
        """The account of a handle or an e-mail address, in any case."""
        ...

    async def users(self, ids: Sequence[str] | None = None) -> Sequence[User]:
        """The accounts of these ids, at most 500, or all accounts; by handle."""
        ...

    async def update_user(
        self,
        id: str,  # noqa: A002 - as above
        changes: Mapping[str, Any],
        *,
        keeps_operator: bool = False,
    ) -> User | None:
        """Change fields of an account, but not its handle or e-mail; None when there is none.

        Args:
            id: Of the account.
            changes: The new values.
            keeps_operator: Whether the account may not be the last operator.

        Raises:
            InvalidRequest: It is, also where another one is dismissed at the same time.
        """
        ...

    async def organisation(self, handle: str) -> Organisation | None:
        """One organisation."""
        ...

    async def organisations(self) -> Sequence[Organisation]:
        """All organisations, by handle."""
        ...

    async def memberships(self, *, user: str = "", organisation: str = "") -> Sequence[Membership]:
        """Those of a person, of an organisation, or of both, by organisation and user."""
        ...

    async def remove_membership(self, organisation: str, user: str) -> bool:
        """Remove a person from an organisation; whether there was a membership.

        Raises:
            InvalidRequest: The organisation would have no administrator left.
        """
        ...

    async def add_key(self, key: ApiKey) -> None:
        """Store a new key."""
        ...

    async def update_key(self, id: str, changes: Mapping[str, Any]) -> ApiKey | None:  # noqa: A002 - as above
        """Change fields of a key, but not its digest or user; None when there is none."""
        ...

    async def renew_key(self, id: str, *, digest: str, expires_at: float) -> ApiKey | None:  # noqa: A002 - as above
        """Give a key that is not revoked a new text; None when there is none."""
        ...

    async def key(self, digest: str) -> ApiKey | None:
        """The key of a digest."""
        ...

    async def get_key(self, id: str) -> ApiKey | None:  # noqa: A002 - as above
        """The key of an id."""
        ...

    async def keys(self, user: str) -> Sequence[ApiKey]:
        """The keys of a person, in the order in which they were made."""
        ...

    async def put_session(self, session: UserSession) -> None:
        """Store a new session."""
        ...

    async def session(self, digest: str) -> UserSession | None:
        """The session of a digest."""
        ...

    async def sessions(self, user: str) -> Sequence[UserSession]:
        """The sessions of a person, the oldest first."""
        ...

    async def replace_session(self, digest: str, new: UserSession, *, until: float) -> bool:
        """Replace the cookie of a session; the old one is valid until then.

        What else the stored session has is kept: it may have changed since it was read.

        Returns:
            Whether the session was there, and its cookie not replaced before.
        """
        ...

    async def update_session(self, digest: str, changes: Mapping[str, Any]) -> UserSession | None:
        """Change fields of a session, but not its digest, user or expiry; None without one.

        What is in `USES` changes no right, and so does not raise the revision.
        """
        ...

    async def end_sessions(self, *, user: str = "", digest: str = "", id: str = "") -> None:  # noqa: A002 - as above
        """Forget one cookie, all sessions of a person, or one session of a person by its name."""
        ...

    async def put_link(self, link: OneTimeLink) -> None:
        """Store a new link."""
        ...

    async def link(self, digest: str) -> OneTimeLink | None:
        """The link of a digest."""
        ...

    async def use_link(self, digest: str, at: float) -> None:
        """Use a link up.

        Raises:
            AccountNotFound: The link was used before, has expired, or is none.
        """
        ...

    async def find_linked(self, issuer: str, subject: str) -> LinkedIdentity | None:
        """The account of a person at an identity provider."""
        ...

    async def put_record(self, record: TemporaryRecord) -> None:
        """Store a record, or put it in place of the one with its kind and id."""
        ...

    async def record(self, kind: str, id: str, *, at: float) -> TemporaryRecord | None:  # noqa: A002 - as above
        """A record that has not expired at this time."""
        ...

    async def take_record(self, kind: str, id: str, *, at: float) -> TemporaryRecord | None:  # noqa: A002 - as above
        """The same, and delete it: of several that take it at once, one gets it."""
        ...

    async def count_attempt(self, limits: Mapping[str, int], *, at: float, window: float) -> float:
        """Count an attempt under several names, unless one of them has reached its limit.

        Args:
            limits: How many attempts each name may have within the window.
            at: Unix seconds.
            window: Seconds in which attempts are counted.

        Returns:
            Seconds until the next attempt is possible; 0 if this one was counted.
        """
        ...

    async def forget_attempts(self, name: str) -> None:
        """Forget the attempts under a name."""
        ...

    async def take_back_attempt(self, name: str) -> None:
        """Forget the last attempt under a name."""
        ...

    async def forget(self, *, before: float) -> None:
        """Forget sessions, links, records and attempts that have expired before a time."""
        ...

"""Who may see a stored resource: one predicate, which `sql/accounts/visibility.py` has in SQL."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Literal

from msgspec import Struct

from pegboard.core.ports.accounts.resource_store import ResourceKind, StoredResource, Subscription
from pegboard.core.principal import Principal
from pegboard.core.wire_names import OWNER_MARK

VisibilityKind = Literal["own", "organisation", "subscribed", "global", "unrestricted", "none"]
SHARED_STATUSES = ("none", "approved")
"""The statuses on the way into the market in which an organisation has what is shared with it."""


class VisibilityDecision(Struct, frozen=True):
    """Whether a caller may see a stored resource, and why.

    Attributes:
        kind: `unrestricted` is a caller without an account; `none` may not see it.
        reason: A sentence for the owner's side and for operators.
        organisation: The handle of the one that shares it with the caller; empty for none.
    """

    kind: VisibilityKind
    reason: str
    organisation: str = ""

    @property
    def is_visible(self) -> bool:
        """Whether the caller may see it."""
        return self.kind != "none"

    @property
    def is_vouched_for(self) -> bool:
        """Whether it is the caller's own, or an operator answers for it."""
        return self.kind in {"own", "global", "unrestricted"}


_UNRESTRICTED = VisibilityDecision("unrestricted", "the caller has no account, and sees everything")
_OWN = VisibilityDecision("own", "the caller is its owner")
_SUBSCRIBED = VisibilityDecision("subscribed", "the caller has subscribed to it in the market")
_GLOBAL = VisibilityDecision("global", "an operator has made it global")
_PRIVATE = VisibilityDecision("none", "it is private to its owner")
_NOT_A_MEMBER = VisibilityDecision("none", "it is shared with an organisation of others")
_IN_REVIEW = VisibilityDecision("none", "it is not approved")
_GONE = VisibilityDecision("none", "it is not there any more")


def resolve_visibility(
    principal: Principal, resource: StoredResource, *, is_subscribed: bool
) -> VisibilityDecision:
    """Whether a caller may see a stored resource, and why.

    Operators see what is global and their own, as everybody.

    Args:
        principal: The caller.
        resource: The resource.
        is_subscribed: Whether the caller has subscribed to it.
    """
    if not principal.user:
        return _UNRESTRICTED
    if resource.owner == principal.user:
        return _OWN
    if resource.visibility == "global":
        return _GLOBAL
    if resource.visibility == "private":
        return _PRIVATE
    is_member = resource.organisation in principal.organisations
    if is_member and resource.publish_status in SHARED_STATUSES:
        return _share(resource.organisation)
    if is_subscribed and resource.publish_status == "approved":
        return _SUBSCRIBED
    return _IN_REVIEW if is_member or is_subscribed else _NOT_A_MEMBER


@cache
def _share(organisation: str) -> VisibilityDecision:
    reason = "it is shared with an organisation of the caller"
    return VisibilityDecision("organisation", reason, organisation)


class ResourceIndex:
    """The stored resources of a board, to judge visibility without a query.

    It holds what the store held last; servers that share one are at most a second behind. A source
    of the board file has no row here, and everybody may see it.

    Attributes:
        revision: Grows with each change.
    """

    def __init__(self) -> None:
        self.revision = 0
        self._rows: Mapping[ResourceKind, Mapping[str, StoredResource]] = {}
        self._sources: Mapping[str, StoredResource] = {}
        self._of_owner: Mapping[str, list[str]] = {}
        self._of_organisation: Mapping[str, list[str]] = {}
        self._of_subscriber: Mapping[str, list[str]] = {}
        self._of_all: list[str] = []
        self._subscribers: Mapping[str, frozenset[str]] = {}
        self._required: dict[str, ResourceKind] = {}

    def use(
        self, resources: Iterable[StoredResource], subscriptions: Iterable[Subscription]
    ) -> None:
        """Use these rows from now on."""
        users: dict[str, set[str]] = {}
        for item in subscriptions:
            users.setdefault(item.resource, set()).add(item.user)
        rows: dict[ResourceKind, dict[str, StoredResource]] = {}
        for item in sorted(resources, key=lambda each: each.name):
            rows.setdefault(item.kind, {})[item.name] = item
        self._rows = rows
        self._sources = {
            name: row
            for kind in ("model", "skill", "connector")
            for name, row in rows.get(kind, {}).items()
        }
        self._subscribers = {id_: frozenset(those) for id_, those in users.items()}
        owners: dict[str, list[str]] = {}
        organisations: dict[str, list[str]] = {}
        subscribed: dict[str, list[str]] = {}
        self._of_all = [name for name, row in self._sources.items() if row.visibility == "global"]
        for name, row in self._sources.items():
            owners.setdefault(row.owner, []).append(name)
            if row.organisation:
                organisations.setdefault(row.organisation, []).append(name)
            for user in self._subscribers.get(row.id, ()):
                subscribed.setdefault(user, []).append(name)
        self._of_owner, self._of_organisation = owners, organisations
        self._of_subscriber = subscribed
        self.revision += 1

    def require(self, source: str, kind: ResourceKind | None) -> None:
        """Let only those know of a source who see a resource of a kind; None for everybody."""
        if kind is None:
            self._required.pop(source, None)
        else:
            self._required[source] = kind
        self.revision += 1

    def find(self, name: str, kind: ResourceKind = "connector") -> StoredResource | None:
        """The resource of a name, whoever may see it; None when there is none."""
        return self._rows.get(kind, {}).get(name)

    def find_source(self, source: str) -> StoredResource | None:
        """The connector, skill or model of a name, whoever may see it; else None."""
        return self._sources.get(source)

    def has(self, kind: ResourceKind) -> bool:
        """Whether any resource of a kind is stored, visible or not."""
        return kind in self._rows

    def governs(self, source: str) -> bool:
        """Whether a source belongs to somebody, so that others may not know of it."""
        return source in self._sources or OWNER_MARK in source

    def is_open(self, source: str) -> bool:
        """Whether everybody may know of a source."""
        return not self.governs(source) and source not in self._required

    def list_sources(self, principal: Principal) -> list[str]:
        """The sources that an account may know of, beside the open ones, in no order.

        The time that it takes does not depend on what others have.
        """
        names = {*self._of_all, *self._required}
        names.update(self._of_owner.get(principal.user, ()))
        names.update(self._of_subscriber.get(principal.user, ()))
        for organisation in principal.organisations:
            names.update(self._of_organisation.get(organisation, ()))
        return [name for name in names if not self.hides(principal, name)]

    def resolve(self, principal: Principal, resource: StoredResource) -> VisibilityDecision:
        """Whether a caller may see a stored resource, and why."""
        subscribers = self._subscribers.get(resource.id, ())
        return resolve_visibility(principal, resource, is_subscribed=principal.user in subscribers)

    def resolve_source(self, principal: Principal, source: str) -> VisibilityDecision | None:
        """The same for the source of a tool; None for a source that belongs to nobody."""
        resource = self._sources.get(source)
        if resource is not None:
            return self.resolve(principal, resource)
        kind = self._required.get(source)
        if kind is not None and principal.user:
            return next(
                (self.resolve(principal, item) for item in self.list_visible(principal, kind)),
                _GONE,
            )
        if OWNER_MARK in source and principal.user:  # its row was deleted a moment ago
            return _GONE
        return None

    def is_vouched_for(self, principal: Principal, source: str) -> bool:
        """Whether a source is the caller's own, or one that an operator answers for."""
        found = self.resolve_source(principal, source)
        return found is None or found.is_vouched_for

    def vouches_for_description(
        self, principal: Principal, name: str, kind: ResourceKind = "connector"
    ) -> bool:
        """Whether a name and a description of a resource are no untrusted text for a caller.

        Those of a published resource are none: a reviewer has approved them, and approves each
        change of them. So has an administrator, for the members of the organisation.
        """
        row = self.find(name, kind)
        if row is None or row.publish_status == "approved":
            return True
        seen = self.resolve(principal, row)
        return seen.is_vouched_for or (seen.kind == "organisation" and bool(row.vouched_by))

    def hides(self, principal: Principal, source: str) -> bool:
        """Whether a caller may not know of a source, and so of nothing in it."""
        found = self.resolve_source(principal, source)
        return found is not None and not found.is_visible

    def list_visible(self, principal: Principal, kind: ResourceKind) -> Iterator[StoredResource]:
        """The resources of a kind that a caller may see, in order of their names."""
        for resource in self._rows.get(kind, {}).values():
            if self.resolve(principal, resource).is_visible:
                yield resource


def find_owner(source: str) -> str:
    """The handle of the owner of a source; empty for those of operators."""
    owner, mark, _ = source.partition(OWNER_MARK)
    return owner if mark else ""

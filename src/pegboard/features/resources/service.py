"""The `Resources` service: connectors, agents and skills that people add, change and share."""

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

from msgspec import structs

from pegboard.core.event import BoardChanged
from pegboard.core.ports.accounts.identity_store import IdentityStore
from pegboard.core.ports.accounts.resource_store import (
    ResourceKind,
    ResourceStore,
    StoredResource,
    Subscription,
)
from pegboard.core.ports.audit_store import Prove
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, InvalidRequest, ResourceNotFound, Unavailable
from pegboard.execution.audit_first import record_in_audit
from pegboard.execution.environment import CallEnvironment
from pegboard.features.display_text import check_display_text
from pegboard.features.key_limits import limit_keys
from pegboard.features.resources.resource_change import NewResource, ResourceChange
from pegboard.features.resources.rules import (
    REVIEWABLE,
    check_sharing,
    find_next_status,
    join_name,
    may_edit,
    may_review,
    may_vouch,
    owner_of,
)
from pegboard.features.resources.sources import ConnectorReport, ConnectorSources
from pegboard.features.resources.views import ResourceView

MAX_OWNED = 200
"""The most resources of one person."""
MAX_OWNED_SKILLS = 50
"""The most skills among them: every server has their texts in memory."""

_TRIES = 5
_DONE = {
    "add": "added",
    "change": "changed",
    "delete": "deleted",
    "publish": "published",
    "withdraw": "withdrew",
    "approve": "approved",
    "reject": "rejected",
    "subscribe": "subscribed",
    "unsubscribe": "unsubscribed",
}


@limit_keys("resources", reads=("list", "list_waiting", "list_market", "get"))
class Resources:
    """The stored resources of a board.

    ```python
    new = NewResource(kind="connector", source_kind="openapi", name="github", config={...})
    view = await board.resources.add(new, principal=caller)
    ```

    Args:
        store: Stores them.
        people: Knows the handles of owners.
        sources: Opens what connectors connect.
        environment: The clock, the listeners, and who may see what.
        disconnect: Ends what others have stored for a connector, before it changes or goes.
        prove: Writes each change to the audit trail before it takes effect, where required.

    Attributes:
        clear: Deletes what a resource contains, before it goes itself.
    """

    def __init__(
        self,
        store: ResourceStore,
        people: IdentityStore,
        sources: ConnectorSources,
        environment: Callable[[], CallEnvironment],
        *,
        disconnect: Callable[[StoredResource], Awaitable[None]],
        prove: Prove,
    ) -> None:
        self._disconnect = disconnect
        self._store = store
        self._people = people
        self._sources = sources
        self._environment = environment
        self._prove = prove
        self.clear: Callable[[StoredResource], Awaitable[None]] | None = None

    async def list(
        self, *, kind: ResourceKind | None = None, principal: Principal
    ) -> Sequence[ResourceView]:
        """Those that the caller may see, by kind and name; without the files of skills."""
        return await self._view_all(await self._store.list_visible(principal, kind=kind), principal)

    async def list_waiting(self, *, principal: Principal) -> Sequence[ResourceView]:
        """Those that wait for a review by this caller, by kind and name."""
        found = await self._store.list_published("pending")
        waiting = [item for item in found if may_review(principal, item)]
        return await self._view_all(waiting, principal, in_list=False)

    async def list_market(self, *, principal: Principal) -> Sequence[ResourceView]:
        """What organisations have published, by kind and name."""
        found = await self._store.list_published("approved")
        return await self._view_all(
            [it for it in found if it.visibility == "organisation"], principal
        )

    async def get(self, id: str, *, principal: Principal) -> ResourceView:  # noqa: A002 - it is known by its id
        """One that the caller may see, or may review.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
        """
        return await self._view(await self._find(id, principal), principal)

    async def add(self, new: NewResource, *, principal: Principal) -> ResourceView:
        """Add a resource, as its owner; a connector is opened, and its tools are listed.

        Raises:
            AccessDenied: The configuration is for operators, or the caller may not share there.
            InvalidRequest: The name or the configuration is wrong, or the name is taken.
            Unavailable: It could not be stored.
        """
        now = self._environment().now()
        resource = StoredResource(
            id=f"r_{secrets.token_hex(10)}",
            kind=new.kind,
            name=join_name(await self._find_handle(principal), new.name),
            owner=owner_of(principal),
            created_at=now,
            updated_at=now,
            source_kind=new.source_kind,
            title=check_display_text(new.title, "title"),
            description=new.description.strip(),
            organisation=new.organisation,
            visibility=new.visibility,
            config=dict(new.config),
        )
        resource = self._check_config(resource, principal)
        check_sharing(principal, resource)
        if self._sources.is_taken(resource.kind, resource.name):
            raise InvalidRequest(f"'{resource.name}' is taken.")
        await self._check_room(resource, principal)
        async with self._record("add", resource, principal):
            await self._store.add(resource)
        await self._apply(resource)
        return await self._view(resource, principal)

    async def change(
        self,
        id: str,  # noqa: A002 - as above
        change: ResourceChange,
        *,
        principal: Principal,
    ) -> ResourceView:
        """Change a resource; an approved one is reviewed again if its content changes.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
            AccessDenied: The caller may not change it, or may not share there.
            InvalidRequest: The configuration is wrong.
            Unavailable: It could not be stored.
        """
        given = {
            name: value
            for name in ("title", "description", "organisation", "visibility", "config")
            if (value := getattr(change, name)) is not None
        }
        if "title" in given:
            given["title"] = check_display_text(given["title"], "title")

        def edit(known: StoredResource) -> StoredResource:
            changed = structs.replace(known, **given)
            if changed.config != known.config or "description" in given:
                changed = self._check_config(changed, principal)
            contents = (changed.title, changed.description, changed.config)
            if contents != (known.title, known.description, known.config):
                status = find_next_status(known)
                changed = structs.replace(changed, publish_status=status, vouched_by="")
            if changed.visibility != "organisation":
                changed = _unshare(changed)
            elif changed.organisation != known.organisation:
                changed = structs.replace(changed, publish_status="none", vouched_by="")
            if "visibility" in given or "organisation" in given:
                check_sharing(principal, changed)
            return changed

        return await self._edit("change", id, edit, principal, detail={"fields": sorted(given)})

    async def delete(self, id: str, *, principal: Principal) -> None:  # noqa: A002 - as above
        """Delete a resource, for all who see it.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
            AccessDenied: The caller may not change it.
        """
        resource = await self._find(id, principal)
        self._check_may_edit(resource, principal)
        await self._disconnect(resource)
        if self.clear is not None:
            await self.clear(resource)
        async with self._record("delete", resource, principal):
            await self._store.delete(resource.id)
        await self._sources.load()

    async def test(self, id: str, *, principal: Principal) -> ConnectorReport:  # noqa: A002 - as above
        """Open a connector apart from the board, list its tools, and close it.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
            AccessDenied: The caller may not change it.
            InvalidRequest: It is no connector.
        """
        resource = await self._find(id, principal)
        self._check_may_edit(resource, principal)
        if resource.kind != "connector":
            raise InvalidRequest("Only a connector can be tested.")
        return await self._sources.probe(resource)

    async def publish(self, id: str, *, principal: Principal) -> ResourceView:  # noqa: A002 - as above
        """Propose a resource for the market; an administrator reviews it.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
            AccessDenied: The caller may not change it.
            InvalidRequest: It is not shared with an organisation, which publishes it.
        """

        def edit(known: StoredResource) -> StoredResource:
            if known.visibility != "organisation":
                raise InvalidRequest("Share it with the organisation that publishes it first.")
            if known.publish_status in {"pending", "approved"}:
                return known
            return structs.replace(known, publish_status="pending", reviewed_by="", review_note="")

        return await self._edit("publish", id, edit, principal)

    async def withdraw(self, id: str, *, principal: Principal) -> ResourceView:  # noqa: A002 - as above
        """Take a resource out of the market, or back from its review.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
            AccessDenied: The caller may not change it.
        """

        def edit(known: StoredResource) -> StoredResource:
            return structs.replace(known, publish_status="none", reviewed_by="", review_note="")

        return await self._edit("withdraw", id, edit, principal)

    async def review(
        self,
        id: str,  # noqa: A002 - as above
        decision: Literal["approve", "reject"],
        *,
        note: str = "",
        revision: int | None = None,
        principal: Principal,
    ) -> ResourceView:
        """Approve a resource for the market, or reject it; also one that was approved before.

        A skill or an agent that is shared and not proposed is approved for its organisation alone,
        whose members' runs then trust its description; to reject it ends the sharing.

        Args:
            id: Of the resource.
            decision: What holds from now on.
            note: For its owner.
            revision: That was reviewed; None for the current one.
            principal: The caller.

        Raises:
            ResourceNotFound: There is no such resource for this caller.
            AccessDenied: The caller may not review it: its owner, or no administrator.
            InvalidRequest: It was changed since that revision, or is not proposed.
        """

        def edit(known: StoredResource) -> StoredResource:
            is_vouching = may_vouch(principal, known)
            if not (is_vouching or may_review(principal, known)):
                raise AccessDenied(
                    known.name, "another administrator of its organisation reviews it"
                )
            if revision is not None and revision != known.revision:
                raise InvalidRequest("It was changed since you have seen it: look at it again.")
            by = owner_of(principal)
            if is_vouching and decision == "approve":
                return structs.replace(known, vouched_by=by)
            reviewed = structs.replace(known, reviewed_by=by, review_note=note)
            if is_vouching:
                return _unshare(structs.replace(reviewed, visibility="private"))
            status = "approved" if decision == "approve" else "rejected"
            return structs.replace(reviewed, publish_status=status)

        return await self._edit(decision, id, edit, principal, is_review=True)

    async def subscribe(self, id: str, *, principal: Principal) -> None:  # noqa: A002 - as above
        """Install a resource of the market for the caller.

        Raises:
            ResourceNotFound: The market has no such resource.
            AccessDenied: The caller has no account.
        """
        resource = await self._find_published(id, principal)
        async with self._record("subscribe", resource, principal):
            await self._store.subscribe(Subscription(resource=id, user=principal.user))
        await self._sources.load()

    async def unsubscribe(self, id: str, *, principal: Principal) -> None:  # noqa: A002 - as above
        """Remove a subscription of the caller.

        Raises:
            ResourceNotFound: The caller has not subscribed to it.
            AccessDenied: The caller has no account.
        """
        _check_has_account(principal)
        resource = await self._store.get(id)
        if resource is None:
            raise _not_found(id)
        async with self._record("unsubscribe", resource, principal):
            subscription = Subscription(resource=id, user=principal.user)
            if not await self._store.unsubscribe(subscription):
                raise _not_found(id)
        await self._sources.load()

    async def _edit(
        self,
        action: str,
        id: str,  # noqa: A002 - as above
        edit: Callable[[StoredResource], StoredResource],
        principal: Principal,
        *,
        detail: Mapping[str, Any] | None = None,
        is_review: bool = False,
    ) -> ResourceView:
        """Change a resource, again where somebody else was first."""
        for _ in range(_TRIES):
            known = await self._find(id, principal)
            if not is_review:
                self._check_may_edit(known, principal)
            edited = edit(known)
            if edited == known:
                return await self._view(known, principal)
            changed = structs.replace(
                edited, revision=known.revision + 1, updated_at=self._environment().now()
            )
            if changed.config != known.config:
                await self._disconnect(known)
            async with self._record(action, changed, principal, **(detail or {})):
                is_stored = await self._store.replace(
                    changed, keep_definitions=changed.config == known.config
                )
            if is_stored:
                await self._apply(changed, is_new=changed.config != known.config)
                return await self._view(changed, principal)
        raise Unavailable("It is being changed by others: try again.", nothing_done=True)

    async def _apply(self, resource: StoredResource, *, is_new: bool = True) -> None:
        """Let a change take effect here; a new or changed connector is opened at once."""
        await self._sources.load()
        if resource.kind == "connector" and is_new:
            await self._sources.open(resource.name)

    async def _find(self, id: str, principal: Principal) -> StoredResource:  # noqa: A002 - as above
        resource = await self._store.get(id)
        if resource is None:
            raise _not_found(id)
        index = self._environment().resource_index
        if index.resolve(principal, resource).is_visible or may_review(principal, resource):
            return resource
        raise _not_found(id)

    async def _find_published(self, id: str, principal: Principal) -> StoredResource:  # noqa: A002 - as above
        _check_has_account(principal)
        resource = await self._store.get(id)
        if (
            resource is None
            or resource.publish_status != "approved"
            or resource.visibility != "organisation"
        ):
            raise _not_found(id)
        return resource

    def _check_config(self, resource: StoredResource, principal: Principal) -> StoredResource:
        """The resource with what its configuration says of it; refuses what the caller may not."""
        checked = self._sources.check(resource, principal=principal)
        if checked.local_use and not principal.is_operator:
            reason = f"only operators may connect this: {checked.local_use}"
            raise AccessDenied(resource.name, reason)
        if checked.description:
            return structs.replace(resource, description=checked.description)
        return resource

    async def _check_room(self, new: StoredResource, principal: Principal) -> None:
        seen = await self._store.list_visible(principal)
        owned = [item.kind for item in seen if item.owner == new.owner]
        if len(owned) >= MAX_OWNED:
            raise InvalidRequest(f"You have {MAX_OWNED} resources already: delete one first.")
        if new.kind == "skill" and owned.count("skill") >= MAX_OWNED_SKILLS:
            raise InvalidRequest(f"You have {MAX_OWNED_SKILLS} skills already: delete one first.")

    def _check_may_edit(self, resource: StoredResource, principal: Principal) -> None:
        if not may_edit(principal, resource):
            raise AccessDenied(resource.name, "only its owner may change it")

    async def _find_handle(self, principal: Principal) -> str:
        """The handle in the names of what a caller adds; empty for operators."""
        user = await self._people.user(principal.user) if principal.user else None
        if user is None:
            if principal.is_operator:
                return ""
            raise AccessDenied("resources", "the caller has no account")
        return "" if user.is_operator else user.handle

    async def _view(self, resource: StoredResource, principal: Principal) -> ResourceView:
        return (await self._view_all([resource], principal, in_list=False))[0]

    async def _view_all(
        self,
        resources: Sequence[StoredResource],
        principal: Principal,
        *,
        in_list: bool = True,
    ) -> Sequence[ResourceView]:
        if not resources:
            return []
        ids = {id_ for it in resources for id_ in (it.owner, it.reviewed_by, it.vouched_by) if id_}
        handles = {user.id: user.handle for user in await self._people.users(sorted(ids))}
        index = self._environment().resource_index
        found: list[ResourceView] = []
        for item in resources:
            seen = index.resolve(principal, item)
            is_editor = may_edit(principal, item)
            is_connector = item.kind == "connector" and seen.is_visible
            found.append(
                ResourceView(
                    resource=item,
                    owner=handles.get(item.owner, item.owner),
                    reviewed_by=handles.get(item.reviewed_by, item.reviewed_by),
                    vouched_by=handles.get(item.vouched_by, item.vouched_by),
                    is_reviewer=may_review(principal, item) or may_vouch(principal, item),
                    visibility=seen,
                    is_editor=is_editor,
                    shows_config=(
                        is_editor
                        or (item.publish_status in REVIEWABLE and may_review(principal, item))
                        or (item.kind == "skill" and may_vouch(principal, item))  # members read it
                    )
                    and not (in_list and item.kind == "skill"),
                    report=self._sources.report(item.name) if is_connector else None,
                )
            )
        return found

    @asynccontextmanager
    async def _record(
        self, action: str, resource: StoredResource, principal: Principal, **detail: Any
    ) -> AsyncGenerator[None]:
        """Make a change in the body, and report it; first to an audit trail that is required."""
        environment = self._environment()

        def change(action: str = action) -> BoardChanged:
            return BoardChanged(
                kind="resource",
                action=action,
                at=environment.now(),
                subject=resource.name,
                by=principal.id,
                tenant=principal.tenant,
                detail={"id": resource.id, "kind": resource.kind, **detail},
            )

        async with record_in_audit(self._prove, change, environment=environment):
            yield
        environment.emitter.emit(change(_DONE[action]))


def _unshare(resource: StoredResource) -> StoredResource:
    """A resource that no organisation has any longer."""
    return structs.replace(resource, organisation="", publish_status="none", vouched_by="")


def _check_has_account(principal: Principal) -> None:
    if not principal.user:
        raise AccessDenied("the market", "the caller has no account")


def _not_found(id: str) -> ResourceNotFound:  # noqa: A002 - as above
    return ResourceNotFound(f"There is no resource '{id[:100]}'.")

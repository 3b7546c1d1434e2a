"""The `CatalogueService`: registers, versions and removes tools while the board runs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from datetime import date
from typing import Any

from pegboard.concurrency.cooperative import iterate_cooperatively
from pegboard.core.ports.audit_store import Prove, skip_proof
from pegboard.core.ports.catalogue_stores import CatalogueStore, VersionStatus
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec
from pegboard.errors import InvalidRequest, ToolNotFound, Unavailable
from pegboard.execution.audit_first import record_in_audit
from pegboard.features.catalogue.audit_events import about_to, changes
from pegboard.features.catalogue.build_tools import Builds, draft_registrations
from pegboard.features.catalogue.queries import CatalogueQueries
from pegboard.features.catalogue.registered_tools import RegisteredTools
from pegboard.features.catalogue.registration_drafts import Drafts
from pegboard.features.catalogue.restore import restore_tools
from pegboard.features.catalogue.views import RegistrationResult, deprecation_note, start_of_day
from pegboard.features.permissions import check_may_change_catalogue
from pegboard.registry import ToolRegistry
from pegboard.registry.versions import version_key

_ATTEMPTS = 3
"""How often a version number may be lost to another server before registering fails."""


async def _nothing() -> None:
    pass


def _accept_all(_specs: Sequence[ToolSpec]) -> None:
    pass


class CatalogueService(CatalogueQueries):
    """The tools registered by API, with all their versions; they survive restarts.

    ```python
    documents = [{"tool_id": "hello_v1", "type": "RestAPI"}]
    [made] = await board.catalogue.register(documents, principal=LOCAL)
    ```

    Args:
        registry: The tools of the board.
        store: Stores the versions.
        builds: Returns the function that builds the tools of one request.
        owner_of_name: Returns the source that a name belongs to; empty when it is free.
        changed: Called after each change of the registry.
        check: Refuses tools that are valid alone but not together; raises a `PegboardError`.
        prove: Writes each change to the audit trail before it is stored; a bulk is one change.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: CatalogueStore,
        *,
        builds: Builds,
        owner_of_name: Callable[[str], str],
        changed: Callable[[], Awaitable[None]] = _nothing,
        check: Callable[[Sequence[ToolSpec]], None] = _accept_all,
        prove: Prove = skip_proof,
    ) -> None:
        super().__init__(registry, RegisteredTools(registry, owner_of_name))
        self._store = store
        self._builds = builds
        self._changed = changed
        self._check = check
        self._prove = prove
        self._revision = -1
        self._lock = asyncio.Lock()

    async def load(self, *, anew: bool = False) -> None:
        """Restore the stored tools, unless the board has them already.

        Args:
            anew: Restore all of them, because what may run has changed.
        """
        async with self._lock:
            is_changed = await self._load(anew=anew)
        if is_changed:
            await self._changed()

    async def register(
        self,
        definitions: Sequence[Mapping[str, Any]],
        *,
        principal: Principal,
        origin: str = "api",
    ) -> list[RegistrationResult]:
        """Register all of these definitions or none; each changed definition becomes a new version.

        Raises:
            AccessDenied: The caller lacks the scope.
            AuditUnavailable: The audit trail is required and unavailable; nothing is changed. The
                other changes of this class raise it too.
            InvalidRequest: Definitions are invalid; lists the faults by position.
            DuplicateTool: A name belongs to a source, or to the board file.
            DependencyCycle: The tools would depend on each other; names the cycle.
        """
        check_may_change_catalogue(principal, "the catalogue")
        async with self._lock, AsyncExitStack() as deciding:
            found, before = await self._register(
                definitions, deciding, principal=principal, origin=origin
            )
        await self._announce("registered", before, principal, origin=origin)
        return found

    async def _register(
        self,
        definitions: Sequence[Mapping[str, Any]],
        deciding: AsyncExitStack,
        *,
        principal: Principal,
        origin: str,
    ) -> tuple[list[RegistrationResult], dict[str, str]]:
        attempts, by = _ATTEMPTS, principal.owner
        while True:
            await self._load()
            drafts = Drafts(self._registry.versions, self._registered.stored)
            made = await draft_registrations(
                definitions, self._builds(), drafts=drafts, registered=self._registered
            )
            self._check([draft.tool.spec for draft in made])
            now = self._registry.environment.now()
            pairs = [
                (draft, draft.to_stored(now, by=by, origin=origin))
                async for draft in iterate_cooperatively(made)
            ]
            changing = [item for draft, item in pairs if self._registered.changes(draft)]
            if changing and attempts == _ATTEMPTS:  # once, however many attempts are needed
                about = ((item.name, item.digest) for _, item in pairs)
                await deciding.enter_async_context(
                    self._record_decision("register", about, principal, origin=origin)
                )
            try:
                if changing:
                    await self._store.add(changing)
            except InvalidRequest:  # another server was first with a version: number them after it
                attempts -= 1
                if not attempts or await self._store.revision() == self._revision:
                    raise
            else:
                break
        before = {item.name: self._registered.version_of(item.name) for _, item in pairs}
        with self._registry.changes.together():
            found = [
                self._registered.put(draft, item)
                async for draft, item in iterate_cooperatively(pairs)
            ]
        if changing:
            await self._follow_own_write()
        for _, item in pairs:  # also where an earlier request was stored, but failed here
            await self._restore_removed(item.name, item.version)
        return found, before

    async def remove(self, name: str, *, principal: Principal) -> None:
        """Remove a registered tool from the board; its versions stay, and can be rolled back to.

        Args:
            name: A name removes the tool. An id (`search_v1`) or a pin (`search@1.2`) removes only
                the versions that it means; the newest other version becomes current if the current
                one is among them.
            principal: The caller.

        Raises:
            AccessDenied: The caller lacks the scope, or the tool was not registered by API.
            ToolNotFound: There is no such tool.
        """
        check_may_change_catalogue(principal, name)
        async with self._lock:
            await self._load()
            wire = self._registered.resolve_own_name(name)
            meant = self._registered.find_meant_versions(name)
            if wire not in self._registered.active or not meant:
                raise ToolNotFound(name)
            before = {wire: self._registered.version_of(wire)}
            left = [
                item for item in self._registered.find_meant_versions(wire) if item not in meant
            ]
            version = ", ".join(meant) if left else before[wire]
            async with self._record_decision("remove", [(wire, "")], principal, version=version):
                if left:
                    await self._remove_versions(wire, meant, left)
                else:
                    await self._store.deactivate(wire)
                    self._registered.take_off(wire)
                    await self._follow_own_write()
        await self._announce("removed", before, principal)

    async def _remove_versions(self, name: str, gone: Sequence[str], left: Sequence[str]) -> None:
        """Remove some versions of a tool; the newest one that is left may become current."""
        if self._registered.version_of(name) in gone:
            newest = max(left, key=version_key)
            await self._store.activate(name, newest)
            self._registered.swap(name, self._registry.versions.use(name, newest))
            await self._follow_own_write()
        for version in gone:
            await self._mark(name, version, "removed")

    async def _mark(self, name: str, version: str, status: VersionStatus) -> None:
        await self._store.mark(name, version, status=status)
        self._registered.mark(name, version, status=status)
        await self._follow_own_write()

    async def _restore_removed(self, name: str, version: str) -> None:
        """Let a removed version be found again."""
        stored = self._registered.stored[name]
        if any(item.version == version and item.status == "removed" for item in stored):
            await self._mark(name, version, "active")

    async def roll_back(
        self, name: str, version: str, *, principal: Principal
    ) -> RegistrationResult:
        """Make an older version of a tool current, also after it was removed.

        Raises:
            AccessDenied: The caller lacks the scope, or the tool was not registered by API.
            ToolNotFound: There is no such tool.
            VersionNotFound: There is no such version; lists the versions.
            InvalidRequest: The version is ambiguous; lists the candidates.
        """
        check_may_change_catalogue(principal, name)
        async with self._lock:
            await self._load()
            wire = self._registered.resolve_own_name(name)
            version = self._registry.versions.get(wire, version).version
            self._registered.check_free(wire)
            before = {wire: self._registered.version_of(wire)}
            async with self._record_decision("roll_back", [(wire, "")], principal, version=version):
                await self._restore_removed(wire, version)
                await self._store.activate(wire, version)
                tool = self._registry.versions.roll_back(wire, version)
                self._registered.swap(wire, tool)
                await self._follow_own_write()
        await self._announce("rolled_back", before, principal, version=version)
        return RegistrationResult(spec=tool.spec, version=version, is_current=True)

    async def deprecate(
        self, name: str, version: str = "", *, on: date | None = None, principal: Principal
    ) -> RegistrationResult:
        """Deprecate a version; it can still be called.

        Args:
            name: The tool, by name, id or pin.
            version: Empty for the current one, or for the newest that the id or pin means.
            on: The day from which the version should no longer be used; a past day is noted in the
                answer.
            principal: The caller.

        Raises:
            AccessDenied: The caller lacks the scope, or the tool was not registered by API.
            ToolNotFound: There is no such tool.
            VersionNotFound: There is no such version; lists the versions.
            InvalidRequest: The version is ambiguous; lists the candidates.
        """
        check_may_change_catalogue(principal, name)
        async with self._lock:
            await self._load()
            wire, versions = self._registered.resolve_own_name(name), self._registry.versions
            current = versions.current(wire).version
            meant = self._registered.find_meant_versions(name)
            if not meant:
                raise ToolNotFound(name)
            newest = current if current in meant else meant[-1]
            version = versions.get(wire, version or newest).version
            is_current = version == current and wire in self._registered.active
            async with self._record_decision("deprecate", [(wire, "")], principal, version=version):
                await self._store.mark(
                    wire,
                    version,
                    status="deprecated",
                    deprecated_at=self._registry.environment.now(),
                    deprecated_until=start_of_day(on),
                )
                tool = versions.deprecate(wire, version, on=on)
                if is_current:
                    self._registered.swap(wire, tool)
                await self._follow_own_write()
        before = {wire: self._registered.version_of(wire)}
        await self._announce("deprecated", before, principal, version=version)
        note = deprecation_note(on, self._registry.environment.now())
        return RegistrationResult(spec=tool.spec, version=version, is_current=is_current, note=note)

    async def _load(self, *, anew: bool = False) -> bool:
        """Apply changes of the store; return whether there were any."""
        revision = await self._store.revision()
        if revision == self._revision and not anew:
            return False
        await restore_tools(
            self._store,
            self._builds(),
            registry=self._registry,
            registered=self._registered,
            anew=anew,
        )
        self._revision = revision
        return True

    async def _follow_own_write(self) -> None:
        """Skip the revision that this server has just written.

        If another server has written too, or the store cannot tell, everything is read the next
        time.
        """
        with suppress(Unavailable):  # the change itself is stored already
            revision = await self._store.revision()
            if revision == self._revision + 1:
                self._revision = revision

    def _record_decision(
        self, action: str, items: Iterable[tuple[str, str]], principal: Principal, **detail: Any
    ) -> AbstractAsyncContextManager[None]:
        """Write a decision to the audit trail, where that is required, before it is done."""
        kit = self._registry.environment
        return record_in_audit(
            self._prove,
            lambda: about_to(action, items, principal=principal, at=kit.now(), **detail),
            environment=kit,
        )

    async def _announce(
        self, action: str, before: Mapping[str, str], principal: Principal, **detail: Any
    ) -> None:
        kit = self._registry.environment
        after = {name: self._registered.version_of(name) for name in before}
        try:
            await self._changed()
        finally:  # the change is done, even if a follower failed
            events = changes(action, before, after, principal=principal, at=kit.now(), **detail)
            async for event in iterate_cooperatively(events):
                kit.emitter.emit(event)

"""Credentials in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.credential import Credential
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.errors import InvalidRequest


class MemoryCredentials:
    """A `CredentialStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._stored: dict[str, StoredCredential] = {}
        self._claims: dict[str, float] = {}

    async def add(self, new: StoredCredential) -> None:
        with self._gate:
            self._check_name(new.about)
            self._stored[new.about.id] = new
            if new.about.is_default:
                self._take_default(new.about)

    async def credential(self, id: str) -> StoredCredential | None:  # noqa: A002 - it is known by its id
        with self._gate:
            return self._stored.get(id)

    async def credentials(self, *, owner: str = "", source: str = "") -> Sequence[StoredCredential]:
        with self._gate:
            return [
                item
                for item in self._stored.values()
                if owner in ("", item.about.owner) and source in ("", item.about.source)
            ]

    async def find_usable(self, source: str, owner: str) -> Sequence[StoredCredential]:
        with self._gate:
            return [
                item
                for item in self._stored.values()
                if item.about.source == source and (item.about.owner == owner or item.about.shared)
            ]

    async def update(
        self,
        id: str,  # noqa: A002 - as above
        changes: Mapping[str, Any],
        *,
        sealed: SealedSecret | None = None,
        version: int | None = None,
    ) -> Credential | None:
        with self._gate:
            known = self._stored.get(id)
            if known is None or version not in (None, known.about.version):
                return None
            number = known.about.version + (sealed is not None)
            changed = structs.replace(known.about, **{**changes, "version": number})
            self._check_name(changed)
            self._stored[id] = StoredCredential(about=changed, sealed=sealed or known.sealed)
            if sealed is not None:
                self._claims.pop(id, None)
            if changed.is_default:
                self._take_default(changed)
            return changed

    async def claim_refresh(self, id: str, *, version: int, now: float, until: float) -> bool:  # noqa: A002 - as above
        with self._gate:
            known = self._stored.get(id)
            if known is None or known.about.version != version or self._claims.get(id, 0.0) > now:
                return False
            self._claims[id] = until
            return True

    async def release_refresh(self, id: str) -> None:  # noqa: A002 - as above
        with self._gate:
            self._claims.pop(id, None)

    async def remove(self, id: str) -> bool:  # noqa: A002 - as above
        with self._gate:
            self._claims.pop(id, None)
            return self._stored.pop(id, None) is not None

    def _check_name(self, about: Credential) -> None:
        for item in self._stored.values():
            it = item.about
            same = (it.owner, it.source, it.name) == (about.owner, about.source, about.name)
            if same and it.id != about.id:
                raise InvalidRequest(
                    f"You have a credential '{about.name[:100]}' for '{about.source}': choose "
                    "another name."
                )

    def _take_default(self, about: Credential) -> None:
        for item in list(self._stored.values()):
            it = item.about
            is_other = (it.owner, it.source) == (about.owner, about.source) and it.id != about.id
            if is_other and it.is_default:
                changed = structs.replace(it, is_default=False)
                self._stored[it.id] = structs.replace(item, about=changed)

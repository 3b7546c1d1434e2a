"""The credential store port: whose account a call of a source acts with."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from pegboard.core.credential import Credential


class SealedSecret(Struct, frozen=True, kw_only=True):
    """The encrypted value of a credential.

    Attributes:
        key_id: Names the master key, without telling it.
        data_key: The key of this value, encrypted with the master key.
        value: The value, encrypted with that key.
    """

    key_id: str
    data_key: bytes
    value: bytes


class StoredCredential(Struct, frozen=True, kw_only=True):
    """A credential with its encrypted value."""

    about: Credential
    sealed: SealedSecret


class CredentialStore(Protocol):
    """Stores credentials. Each method raises `Unavailable` when it cannot."""

    async def add(self, new: StoredCredential) -> None:
        """Store a new credential; as the default of its owner, in place of another one.

        Raises:
            InvalidRequest: Its owner has one of this name for this source.
        """
        ...

    async def credential(self, id: str) -> StoredCredential | None:  # noqa: A002 - it is known by its id
        """One credential."""
        ...

    async def credentials(self, *, owner: str = "", source: str = "") -> Sequence[StoredCredential]:
        """Those of an owner, of a source, or of both, in the order in which they were made."""
        ...

    async def find_usable(self, source: str, owner: str) -> Sequence[StoredCredential]:
        """Those for this source that belong to this owner or are shared, oldest first."""
        ...

    async def update(
        self,
        id: str,  # noqa: A002 - as above
        changes: Mapping[str, Any],
        *,
        sealed: SealedSecret | None = None,
        version: int | None = None,
    ) -> Credential | None:
        """Change fields, but not its id, owner and source; None when nothing was changed.

        Args:
            id: The credential.
            changes: The fields; `is_default` takes it from the owner's other one.
            sealed: A new value, which raises its version; it ends a claim to refresh it.
            version: Change it only while it has this version; None for any.

        Raises:
            InvalidRequest: Its owner has another one of this name for this source.
        """
        ...

    async def claim_refresh(self, id: str, *, version: int, now: float, until: float) -> bool:  # noqa: A002 - as above
        """Claim to refresh this version, unless another server has a claim; whether it did.

        Args:
            id: The credential.
            version: The version to refresh.
            now: Unix seconds.
            until: When the claim expires by itself.
        """
        ...

    async def release_refresh(self, id: str) -> None:  # noqa: A002 - as above
        """End a claim."""
        ...

    async def remove(self, id: str) -> bool:  # noqa: A002 - as above
        """Remove a credential; whether there was one."""
        ...

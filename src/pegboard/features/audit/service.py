"""The `Audit` service: lists and verifies the audit trail."""

from typing import Any

from pegboard.core.ports.audit_store import AuditRecord, AuditReport, AuditStore
from pegboard.core.principal import Principal
from pegboard.features.permissions import check_may_read_audit


class Audit:
    """The audit trail of a board.

    ```python
    report = await board.audit.verify(principal=LOCAL)
    report.is_intact, report.head
    ```
    """

    def __init__(self, store: AuditStore, *, flush: Any) -> None:
        """Read there, after what waits to be written has been written by `flush`."""
        self._store = store
        self._flush = flush

    async def records(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        kind: str = "",
        newest_first: bool = False,
        principal: Principal,
    ) -> list[AuditRecord]:
        """Return records between two sequence numbers, oldest first unless asked for.

        Raises:
            AccessDenied: The caller lacks the scope.
        """
        check_may_read_audit(principal)
        await self._flush()
        tenant = None if principal.is_operator else principal.tenant
        return list(
            await self._store.records(
                after=after,
                before=before,
                limit=limit,
                kind=kind,
                tenant=tenant,
                newest_first=newest_first,
            )
        )

    async def verify(
        self, *, anchor: tuple[int, str] | None = None, principal: Principal
    ) -> AuditReport:
        """Read the whole chain and report whether it is intact.

        Args:
            anchor: A sequence number and its hash, noted elsewhere before.
            principal: The caller.

        Raises:
            AccessDenied: The caller lacks the scope.
        """
        check_may_read_audit(principal)
        await self._flush()
        return await self._store.verify(anchor=anchor)

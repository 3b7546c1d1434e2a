"""The audit trail is read by whoever may, after all that happened has been written."""

from pathlib import Path
from typing import Any

import pytest

from pegboard.core.ports.audit_store import AuditEntry
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.audit import Audit
from pegboard.storage import open_storage

ADA = Principal(id="ada", tenant="acme", scopes=frozenset({"audit:read"}))


def an_entry(tenant: str) -> AuditEntry:
    return AuditEntry(kind="call", at=1.0, tenant=tenant, body={"tool": "pay"})


async def test_a_reader_sees_the_tenant_and_the_operator_everything(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        await storage.audit.append([an_entry("acme"), an_entry("other")])
        trail = Audit(storage.audit, flush=storage.flush)

        mine = await trail.records(principal=ADA)
        every = await trail.records(principal=LOCAL)
        report = await trail.verify(principal=ADA)

    assert [record.sequence for record in mine] == [1]
    assert [record.sequence for record in every] == [1, 2]
    assert (report.is_intact, report.last) == (True, 2)


@pytest.mark.parametrize("use", ["records", "verify"])
async def test_nobody_else_reads_it(tmp_path: Path, use: str) -> None:
    async with open_storage(tmp_path) as storage:
        trail: Any = Audit(storage.audit, flush=storage.flush)
        with pytest.raises(AccessDenied, match="audit:read"):
            await getattr(trail, use)(principal=Principal(id="eve"))

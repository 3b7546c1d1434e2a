"""The service of files over a storage in memory and a folder."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from pegboard.blobs.local import LocalBlobs
from pegboard.core.event import BoardChanged, Event
from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.accounts.file_store import FileLimits, FileQuota
from pegboard.core.ports.audit_store import skip_proof
from pegboard.core.principal import Principal
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.features.files import Files
from pegboard.features.files.parts import FileParts
from pegboard.storage import MemoryStorage, Storage
from pegboard.testing import FakeClock

ADA = Principal(id="ada", user="u_ada", scopes=frozenset({"*"}), organisations=frozenset({"acme"}))
BOB = Principal(id="bob", user="u_bob", scopes=frozenset({"*"}), organisations=frozenset({"acme"}))
EVE = Principal(id="eve", user="u_eve", scopes=frozenset({"*"}), organisations=frozenset({"zoo"}))
LIMITS = FileLimits(quota=FileQuota(bytes=10_000, files=5), file_bytes=5_000, part_bytes=1_000)


class Bench:
    """The service, what it stores, and what it reports."""

    def __init__(self, folder: Path, *, storage: Storage | None = None) -> None:
        self.clock = FakeClock()
        self.folder = folder
        self.storage = storage or MemoryStorage(clock=self.clock)
        self.blobs: BlobStore = LocalBlobs(folder)
        self.limits = LIMITS
        self.events: list[Event] = []
        environment = CallEnvironment(now=self.clock.time, emitter=Emitter([self]))
        self.parts = FileParts(
            self.storage.files,
            self.blobs,
            limits=lambda: self.limits,
            environment=lambda: environment,
            prove=skip_proof,
        )
        self.files = Files(self.parts)
        self.uploads = self.files.uploads

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    def names(self) -> list[str]:
        """The files in the folder."""
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())

    def changes(self) -> list[tuple[str, str]]:
        """What was reported of files."""
        found = [event for event in self.events if isinstance(event, BoardChanged)]
        return [(event.action, event.subject) for event in found]


async def chunks(*given: bytes) -> AsyncIterator[bytes]:
    for chunk in given:
        yield chunk


async def read(files: Files, file: Any, **part: Any) -> bytes:
    return b"".join([chunk async for chunk in files.read(file, **part)])


async def interrupted(content: bytes, then: Callable[[], Any]) -> AsyncIterator[bytes]:
    """A content during which something else happens."""
    yield content[:1]
    await then()
    yield content[1:]

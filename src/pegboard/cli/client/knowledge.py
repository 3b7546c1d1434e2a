"""The knowledge bases of a board that the command has opened, or of a server."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pegboard.cli.client.port import Answer, FilesClient

if TYPE_CHECKING:
    from pegboard.core.principal import Principal
    from pegboard.features.knowledge import Knowledge
    from pegboard.features.knowledge.bases import KnowledgeBase

_NO_CONTENT = 204
_PAGE = 500
_CHUNK = 1024 * 1024


class LocalKnowledge:
    """Implements `KnowledgeClient` on a board of this process.

    Args:
        knowledge: That of the board.
        principal: The caller.
    """

    def __init__(self, knowledge: "Knowledge", principal: "Principal") -> None:
        self._knowledge = knowledge
        self._principal = principal

    async def list_bases(self) -> Answer:
        """The bases that the caller sees."""
        service, caller = self._knowledge, self._principal
        bases = service.bases.list_visible(caller)
        return {"bases": await service.view_bases(bases, principal=caller)}

    async def add_base(self, wanted: Mapping[str, Any]) -> Answer:
        """Add a base."""
        from pegboard.features.knowledge import NewBase

        base = await self._knowledge.add_base(NewBase(**wanted), principal=self._principal)
        return (await self._knowledge.view_bases([base], principal=self._principal))[0]

    async def list_documents(self, base: str) -> Answer:
        """The documents of a base."""
        from pegboard.features.knowledge import DocumentQuery

        self._knowledge.wake()
        found = self._find(base)
        rows, cursor = await self._knowledge.documents.list_page(
            found, DocumentQuery(limit=_PAGE), principal=self._principal
        )
        views = [self._knowledge.view(found, row, principal=self._principal) for row in rows]
        return {"documents": [view.to_dict() for view in views], "next_cursor": cursor or None}

    async def add(self, base: str, wanted: Mapping[str, Any]) -> Answer:
        """Put a folder or web pages in."""
        from pegboard.features.knowledge import DocumentSource

        found = self._find(base)
        web: Mapping[str, Any] = wanted.get("web") or {}
        below = bool(web.get("below"))
        gathering = DocumentSource(
            base=found.id,
            folder=str(wanted.get("folder", "")),
            url=str(web.get("url", "")),
            below=below,
            at_most=int(web.get("at_most", 1)) if below else 1,
        )
        run = await self._knowledge.gather(found, gathering, principal=self._principal)
        return {"documents": [], "run": run}

    async def add_file(self, base: str, path: Path, said: Mapping[str, str]) -> Answer:
        """Put a file of this machine in."""
        from pegboard.features.knowledge import NewDocument, read_chunks

        found = self._find(base)
        new = NewDocument(
            name=path.name,
            chunks=read_chunks(path),
            edition=said.get("edition", ""),
            replaces=said.get("replaces", ""),
        )
        row, outcome = await self._knowledge.documents.add(found, new, principal=self._principal)
        view = self._knowledge.view(found, row, principal=self._principal)
        return {"documents": [{"document": view.to_dict(), "outcome": outcome}], "run": ""}

    async def check_file(self, base: str, path: Path, said: Mapping[str, str]) -> Answer:
        """What a file of this machine would change."""
        from pegboard.features.knowledge import NewDocument, read_chunks

        replaces = said.get("replaces", "")
        new = NewDocument(name=path.name, chunks=read_chunks(path), replaces=replaces)
        checker = self._knowledge.checker
        return (await checker.check(self._find(base), new, principal=self._principal)).to_dict()

    async def refresh(self, base: str) -> Answer:
        """Take in what has changed."""
        runs = await self._knowledge.refresh(self._find(base), principal=self._principal)
        return {"run": runs[0] if runs else ""}

    async def is_gathering(self, base: str) -> bool:
        """Whether documents are still looked for."""
        return await self._knowledge.is_gathering(self._find(base), principal=self._principal)

    async def ask(self, base: str, wanted: Mapping[str, Any]) -> Answer:
        """Ask a base."""
        from pegboard.features.knowledge.evidence_views import view_answer

        found = self._find(base)
        stored = await self._knowledge.ask(found, principal=self._principal, **wanted)
        return view_answer(stored)

    async def count_deletion(self, base: str, document: str) -> Answer:
        """What goes when a document, or a base, is deleted."""
        return await self._knowledge.count_deletion(
            self._find(base), document, principal=self._principal
        )

    async def remove(self, base: str, document: str) -> None:
        """Delete a document, or a base."""
        found, caller = self._find(base), self._principal
        if document:
            await self._knowledge.documents.delete(found, document, principal=caller)
        else:
            await self._knowledge.delete_base(found, principal=caller)

    def _find(self, base: str) -> "KnowledgeBase":
        return self._knowledge.bases.find(base, principal=self._principal)


class RemoteKnowledge:
    """Implements `KnowledgeClient` over the HTTP API.

    Args:
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
        files: Uploads files.
    """

    def __init__(
        self,
        ask: Callable[..., Awaitable[tuple[int, Answer]]],
        check: Callable[[int, Answer], Answer],
        files: FilesClient,
    ) -> None:
        self._ask = ask
        self._check = check
        self._files = files

    async def list_bases(self) -> Answer:
        """The bases that the caller sees."""
        return self._check(*await self._ask("GET", "/knowledge"))

    async def add_base(self, wanted: Mapping[str, Any]) -> Answer:
        """Add a base."""
        return self._check(*await self._ask("POST", "/knowledge", body=dict(wanted)))

    async def list_documents(self, base: str) -> Answer:
        """The documents of a base."""
        path = f"{_path_of(base)}/documents"
        return self._check(*await self._ask("GET", path, query={"limit": _PAGE}))

    async def add(self, base: str, wanted: Mapping[str, Any]) -> Answer:
        """Put a folder or web pages in."""
        path = f"{_path_of(base)}/documents"
        return self._check(*await self._ask("POST", path, body=dict(wanted)))

    async def add_file(self, base: str, path: Path, said: Mapping[str, str]) -> Answer:
        """Put a file of this machine in; it is uploaded, and goes on where it was interrupted."""
        stored = await self._files.upload(
            path, name=path.name, purpose="knowledge", on_progress=lambda _done, _size: None
        )
        return await self.add(base, {"upload": stored["id"], **said})

    async def check_file(self, base: str, path: Path, said: Mapping[str, str]) -> Answer:
        """What a file of this machine would change; its upload goes afterwards."""
        stored = await self._files.upload(
            path, name=path.name, purpose="knowledge", on_progress=lambda _done, _size: None
        )
        try:
            body = {"upload": stored["id"], **said}
            answer = await self._ask("POST", f"{_path_of(base)}/check", body=body)
            return self._check(*answer)
        finally:
            await self._files.delete(stored["id"])

    async def refresh(self, base: str) -> Answer:
        """Take in what has changed."""
        return self._check(*await self._ask("POST", f"{_path_of(base)}/refresh"))

    async def is_gathering(self, base: str) -> bool:
        """Whether documents are still looked for."""
        answer = self._check(*await self._ask("GET", _path_of(base)))
        return bool(answer["is_gathering"])

    async def ask(self, base: str, wanted: Mapping[str, Any]) -> Answer:
        """Ask a base."""
        return self._check(*await self._ask("POST", f"{_path_of(base)}/ask", body=dict(wanted)))

    async def count_deletion(self, base: str, document: str) -> Answer:
        """What goes when a document, or a base, is deleted."""
        return self._check(*await self._ask("GET", f"{_path_of(base, document)}/deletion"))

    async def remove(self, base: str, document: str) -> None:
        """Delete a document, or a base."""
        status, answer = await self._ask("DELETE", _path_of(base, document))
        if status != _NO_CONTENT:
            self._check(status, answer)


def _path_of(base: str, document: str = "") -> str:
    path = f"/knowledge/{quote(base, safe='')}"
    return f"{path}/documents/{quote(document, safe='')}" if document else path

"""The node kind `gather`: files of a folder, or pages of the web, become documents of a base."""

import asyncio
import os
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from pegboard.access.document_visibility import find_source_audience, is_document_visible
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.http import HttpClient
from pegboard.core.ports.knowledge.document_store import Audience, StoredDocument
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest, PegboardError, ResourceNotFound
from pegboard.features.knowledge.bases import (
    FOLDER,
    Bases,
    DocumentSource,
    KnowledgeBase,
    WebPolicy,
    check_may_gather,
    is_of_board_file,
    scope_of,
)
from pegboard.features.knowledge.documents import (
    BACKFILL,
    Documents,
    NewDocument,
    find_own_path,
)
from pegboard.features.knowledge.gatherings import GATHER, may_gather, plan_of
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.knowledge.schemas import MAX_CRAWLED
from pegboard.features.knowledge.web_pages import (
    fetch_page,
    fetch_robots,
    find_links,
    is_below,
    may_fetch,
    name_page,
)
from pegboard.graphs.engine.node_results import as_failed
from pegboard.graphs.node_kind import NodeContext, SchemaOf

MAX_FILES = 10_000
"""Files of one folder."""
READABLE = frozenset(
    {
        ".csv", ".docx", ".htm", ".html", ".jpeg", ".jpg", ".markdown", ".md", ".pdf", ".png",
        ".pptx", ".rst", ".tsv", ".txt", ".webp", ".xlsx",
    }
)  # fmt: skip
"""Ends of the names of files that a folder is searched for."""
_COUNTED = ("new", "changed", "already_here", "failed", "removed")
_MAX_FAULTS = 20
"""Of those that failed, how many say why."""
_CHUNK = 1024 * 1024
_FORBID_ALL = "User-agent: *\nDisallow: /"


class _Gathering(Struct, frozen=True, kw_only=True):
    """What one run gathers.

    Attributes:
        wanted: With its audience.
        owner: Whose the new documents are.
    """

    wanted: DocumentSource
    base: KnowledgeBase
    owner: str


def find_sources(
    base: KnowledgeBase, rows: Sequence[StoredDocument], principal: Principal
) -> dict[DocumentSource, str]:
    """The sources of documents beside uploads, and whose they are, as far as a caller sees them.

    The documents that one owner has from a folder or an address are one source. Its audience is
    the one with which it was added, whatever was changed of single documents.

    Args:
        base: The base.
        rows: All its documents.
        principal: The caller, who does not see what was added for others.
    """
    groups: dict[tuple[str, str], list[StoredDocument]] = {}
    pages = Counter(row.source for row in rows)
    for row in rows:
        if row.source != "upload":
            groups.setdefault((row.source, row.owner), []).append(row)
    found: dict[DocumentSource, str] = {}
    for (source, owner), of_one in groups.items():
        audience, organisation = _find_source_audience(of_one)
        sample = structs.replace(of_one[0], audience=audience, organisation=organisation)
        if not is_document_visible(principal, sample):
            continue
        is_folder = source.startswith(FOLDER)
        wanted = DocumentSource(
            base=base.id,
            folder=source.removeprefix(FOLDER) if is_folder else "",
            url="" if is_folder else source,
            below=pages[source] > 1,
            at_most=max(pages[source], 50),
            audience=audience,
            organisation=organisation,
            is_known=True,
        )
        if owner == principal.owner:
            found[wanted] = owner
        else:
            found.setdefault(wanted, owner)
    return found


def gather_graph(wanted: DocumentSource) -> Graph:
    """The graph that gathers documents."""
    node = Node(id=GATHER, kind=GATHER, config=to_builtins(wanted))
    output = f"$.steps.{GATHER}.output"
    return Graph(nodes=(node,), id=plan_of(wanted.base), name=GATHER, output=output)


class GatherNode:
    """Puts documents in, one recorded step each, so that a killed server goes on.

    Args:
        bases: The bases.
        documents: Puts them in.
        http: The guarded client; None on a board without network.
        root: The folder that relative folders start from.
        web: Who may add web addresses.
    """

    name = GATHER
    fields = frozenset({"config"})

    def __init__(
        self,
        bases: Callable[[], Bases],
        documents: Callable[[], Documents],
        *,
        http: HttpClient | None,
        root: Path,
        web: WebPolicy,
    ) -> None:
        self._bases = bases
        self._documents = documents
        self._http = http
        self._root = root
        self._web: WebPolicy = web

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        try:
            wanted = convert(dict(node.config), DocumentSource)
        except ValidationError as error:
            yield "config", "config_invalid", f"{error}."
            return
        if bool(wanted.folder) == bool(wanted.url):
            yield "config", "config_invalid", "Give a 'folder' or a 'url'."
        if not 1 <= wanted.at_most <= MAX_CRAWLED:
            yield "config", "config_invalid", f"'at_most' is from 1 to {MAX_CRAWLED}."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - always the same
        counts = {name: {"type": "integer"} for name in _COUNTED}
        faults = {"type": "array", "items": {"type": "object"}}
        return {"type": "object", "properties": {**counts, "faults": faults}}

    async def run(self, context: NodeContext) -> NodeRun:
        wanted = convert(dict(context.node.config), DocumentSource)
        base = self._require(wanted, context.principal)
        gathering = await self._find_known(wanted, base, context.principal)
        tally = _Tally()
        if wanted.url:
            first = await self._take_pages(context, gathering, tally)
            if first.state is not NodeState.COMPLETED:
                return first
        else:
            await self._take_files(context, gathering, tally)
        output = {**tally.counts, "faults": tally.faults}
        return NodeRun(id=context.step, state=NodeState.COMPLETED, output=output)

    def _require(self, wanted: DocumentSource, principal: Principal) -> KnowledgeBase:
        """The base. Raises `ResourceNotFound` and `AccessDenied`: any graph may name one."""
        base = self._bases().get(wanted.base)
        if base is None or not may_gather(principal, base):
            raise ResourceNotFound(f"There is no knowledge base '{wanted.base[:100]}'.")
        check_may_gather(principal, base, wanted, web=self._web)
        return base

    async def _find_known(
        self, wanted: DocumentSource, base: KnowledgeBase, principal: Principal
    ) -> _Gathering:
        """The source with the audience and the owner that it has already, if it is known."""
        if base.declared is not None and is_of_board_file(base, wanted):
            folder = base.declared.folder
            wanted = structs.replace(wanted, folder=folder, audience="base")
            return _Gathering(wanted=wanted, base=base, owner=INGESTER.owner)
        rows = await self._documents().list_all(scope_of([base], INGESTER, include_replaced=True))
        sources = find_sources(base, rows, principal)
        known = [it for it in sources if it.place == wanted.place]
        known.sort(key=lambda it: sources[it] != principal.owner)
        folder = known[0].folder if known else wanted.folder
        if wanted.audience is not None:
            who = (wanted.audience, wanted.organisation)
            known = [it for it in known if (it.audience, it.organisation) == who]
        same = known[0] if known else wanted
        wanted = structs.replace(
            wanted,
            folder=folder,
            audience=same.audience or "base",
            organisation=same.organisation,
            is_known=wanted.is_known or wanted.audience is None,
        )
        return _Gathering(wanted=wanted, base=base, owner=sources.get(same, principal.owner))

    # folders

    async def _take_files(
        self, context: NodeContext, gathering: _Gathering, tally: "_Tally"
    ) -> None:
        wanted = gathering.wanted
        folder = self._root / wanted.folder
        listed = await context.compute_once("files", lambda: list_files(folder))
        for number, path in enumerate(listed):
            file = folder / path

            async def add(path: str = path, file: Path = file) -> Mapping[str, Any]:
                new = self._new(gathering, name=file.name, path=path, chunks=read_chunks(file))
                return await self._add(gathering.base, new, context.principal)

            await self._count(context, f"file{number}", add, tally, path)
        gone = await self._find_gone(gathering.base, wanted, frozenset(listed))
        for row in gone:

            async def remove(row: StoredDocument = row) -> Mapping[str, Any]:
                await self._documents().remove(row)
                return {"outcome": "removed", "document": row.id}

            await self._count(context, f"gone-{row.id}", remove, tally, row.outer_id)

    async def _find_gone(
        self, base: KnowledgeBase, wanted: DocumentSource, listed: frozenset[str]
    ) -> list[StoredDocument]:
        """The documents of files that are not in the folder any more."""
        rows = await self._documents().list_all(scope_of([base], INGESTER, include_replaced=True))
        return [
            row
            for row in rows
            if row.source == wanted.source
            and row.outer_id not in listed
            and row.outer_id.removesuffix(find_own_path("", owner=row.owner)) not in listed
        ]

    # pages

    async def _take_pages(
        self,
        context: NodeContext,
        gathering: _Gathering,
        tally: "_Tally",
    ) -> NodeRun:
        """Take in pages; how it went with the first one, without which there are no others."""
        wanted = gathering.wanted
        waiting, seen = [wanted.url], {wanted.url}
        robots = ""
        first = NodeRun(id=context.step, state=NodeState.COMPLETED)
        for number in range(wanted.at_most):
            if not waiting:
                break
            url = waiting.pop(0)
            add = partial(self._add_page, gathering, url, robots, context.principal)
            done = await self._count(context, f"page{number}", add, tally, url)
            if number == 0:
                first = done
            output: Mapping[str, Any] = done.output or {}
            if url == wanted.url and output.get("links"):
                robots = await self._count_robots(context, wanted.url)
            seen.add(output.get("url", url))
            new = [link for link in output.get("links", ()) if link not in seen]
            seen.update(new)
            waiting += new
        return first

    async def _count_robots(self, context: NodeContext, url: str) -> str:
        """The robots file of a site; one that cannot be read forbids all pages but the first."""

        async def run(_key: str) -> NodeRun:
            try:
                robots = await fetch_robots(self._require_http(), url)
            except PegboardError:
                robots = _FORBID_ALL
            return NodeRun(id=context.step, state=NodeState.COMPLETED, output={"robots": robots})

        done = await context.run_once(run, label="robots")
        output: Mapping[str, Any] = done.output or {}
        return str(output.get("robots", _FORBID_ALL))

    def _require_http(self) -> HttpClient:
        if self._http is None:
            raise InvalidRequest("This board has no network.")
        return self._http

    async def _add_page(
        self,
        gathering: _Gathering,
        url: str,
        robots: str,
        principal: Principal,
    ) -> Mapping[str, Any]:
        wanted = gathering.wanted
        http, is_first = self._require_http(), url == wanted.url
        if not is_first and not may_fetch(robots, url):
            raise InvalidRequest(f"The robots file of its site forbids {url[:200]}.")
        page = await fetch_page(http, url)
        if not is_first and not is_below(page.url, wanted.url):
            raise InvalidRequest(f"{url[:200]} leads to a page that is not below the first one.")
        path = url if is_first else page.url  # so that many addresses of one page are one document
        new = self._new(
            gathering,
            name=name_page(path),
            path=path,
            chunks=_iterate(page.content),
            media_type=page.media_type,
        )
        output = await self._add(gathering.base, new, principal)
        links = find_links(page, below=wanted.url)[: wanted.at_most * 4] if wanted.below else []
        return {**output, "links": links, "url": page.url}

    # both

    def _new(
        self,
        gathering: _Gathering,
        *,
        name: str,
        path: str,
        chunks: AsyncIterator[bytes],
        media_type: str = "",
    ) -> NewDocument:
        wanted = gathering.wanted
        return NewDocument(
            name=name,
            chunks=chunks,
            path=path,
            source=wanted.source,
            media_type=media_type,
            audience=wanted.audience or "base",
            organisation=wanted.organisation,
            owner=gathering.owner,
            keeps_audience=wanted.is_known,
            priority=BACKFILL,
        )

    async def _add(
        self, base: KnowledgeBase, new: NewDocument, principal: Principal
    ) -> Mapping[str, Any]:
        row, outcome = await self._documents().add(base, new, principal=principal)
        return {"outcome": outcome, "document": row.id}

    async def _count(
        self,
        context: NodeContext,
        label: str,
        work: Callable[[], Awaitable[Mapping[str, Any]]],
        tally: "_Tally",
        place: str,
    ) -> NodeRun:
        """Do one step once over all attempts; one that fails is counted, and the rest go on."""

        async def run(_key: str) -> NodeRun:
            try:
                output = await work()
            except PegboardError as error:
                return as_failed(context.step, error)
            return NodeRun(id=context.step, state=NodeState.COMPLETED, output=dict(output))

        done = await context.run_once(run, label=label)
        tally.add(place, done)
        return done


class _Tally:
    """What became of the files or pages of a source."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = dict.fromkeys(_COUNTED, 0)
        self.faults: list[dict[str, str]] = []

    def add(self, place: str, done: NodeRun) -> None:
        output: Mapping[str, Any] = done.output or {}
        self.counts[str(output.get("outcome", "failed"))] += 1
        if done.error is not None and len(self.faults) < _MAX_FAULTS:
            fault = {name: str(done.error.get(name, "")) for name in ("code", "message")}
            self.faults.append({"place": place[:500], **fault})


def _find_source_audience(rows: Sequence[StoredDocument]) -> tuple[Audience, str]:
    """The audience of a source; the smallest one where its documents do not agree.

    They do not while it is added anew with another audience, or if some could not be taken in then.
    """
    given = {find_source_audience(row) for row in rows}
    smaller = given - {("base", "")}
    if len(smaller) > 1:
        return "private", ""
    return smaller.pop() if smaller else ("base", "")


def list_files(folder: Path) -> list[str]:
    """The files of a folder that can become documents, by their paths in it.

    Hidden ones are left out, and links are not followed.

    Raises:
        InvalidRequest: It is no folder, or has too many files.
    """
    if not folder.is_dir():
        raise InvalidRequest(f"'{folder.name}' is no folder of the server.")
    found: list[str] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if name.startswith(".") or path.suffix.lower() not in READABLE or path.is_symlink():
                continue
            found.append(path.relative_to(folder).as_posix())
            if len(found) > MAX_FILES:
                raise InvalidRequest(f"'{folder.name}' has more than {MAX_FILES} files.")
    return found


async def read_chunks(file: Path) -> AsyncIterator[bytes]:
    """The content of a file, as `NewDocument.chunks` takes it.

    Raises:
        InvalidRequest: It cannot be read.
    """
    try:
        with file.open("rb") as opened:
            while chunk := await asyncio.to_thread(opened.read, _CHUNK):
                yield chunk
    except OSError as error:
        raise InvalidRequest(f"'{file.name}' cannot be read.") from error


async def _iterate(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _CHUNK):
        yield content[start : start + _CHUNK]

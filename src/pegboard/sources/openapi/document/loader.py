"""Loads the document from a file, a URL or the configuration, with the files it refers to."""

import errno
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.core.text.truncate import truncate
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.sources.openapi.document.lenient_access import mapping
from pegboard.sources.openapi.document.parser import Unreadable, parse_document, to_json_data
from pegboard.sources.openapi.document.references import join_path
from pegboard.sources.openapi.document.server_urls import is_url
from pegboard.tools.safe_files import read_file

_OTHER_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_PASTED = re.compile(r"\s*\{|[^\n]*\n")
_MAX_FILES = 500
_MAX_SHOWN = 200
_SUFFIXES = (".json", ".yaml", ".yml")
_ACCEPT = "application/json, application/yaml, text/yaml, text/*;q=0.9, */*;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDocument:
    """A document that was loaded.

    Attributes:
        files: The document under "", and the files it refers to by path from its folder.
        refused: Reasons for the files that could not be read.
        url: The URL that it was fetched from; empty for a file.
        version: Documents with equal versions have equal content.
    """

    files: Mapping[str, Any]
    refused: Mapping[str, str]
    url: str = ""
    version: object = None

    @property
    def root(self) -> Mapping[str, Any]:
        """The document itself."""
        return mapping(self.files[""])


def is_pasted(document: str) -> bool:
    """Whether the text is the document itself rather than its location."""
    return _PASTED.match(document) is not None


class DocumentLoader:
    """Loads one document, again only when it may have changed.

    Args:
        owner: The name of the source, for messages and its share of threads.
        base_dir: The folder for relative file names.
        http: None on a board without network.
        max_bytes: The maximum size of each file.
    """

    def __init__(
        self,
        document: str | Mapping[str, Any],
        *,
        owner: str,
        base_dir: Path,
        http: HttpClient | None,
        max_bytes: int,
    ) -> None:
        self._document = document
        self._owner = owner
        self._base_dir = base_dir
        self._http = http
        self._max_bytes = max_bytes
        self._last: ApiDocument | None = None
        self._tags: dict[str, str] = {}

    async def load(self) -> ApiDocument:
        """Return the current document; the same object while it has not changed.

        Raises:
            SourceUnavailable: It cannot be read; the message says what to check.
        """
        document = self._document
        if not isinstance(document, str):
            fresh = self._last or ApiDocument(files={"": to_json_data(document)}, refused={})
        elif is_url(document):
            fresh = await self._fetch(document)
        elif scheme := _OTHER_URL.match(document):
            raise SourceUnavailable(
                f"document: '{_shorten(scheme[0])}' addresses are not fetched: write one with "
                "https:// or http://, or download it and write its path from the board's folder.",
                permanent=True,
            )
        else:
            fresh = await POOL.run(lambda: self._read(document), owner=self._owner)
        self._last = fresh
        return fresh

    def _read(self, document: str) -> ApiDocument:
        if is_pasted(document):
            return self._last or ApiDocument(files={"": self._parse(document.encode())}, refused={})
        path = self._base_dir / document
        root = _read_file(path, self._max_bytes, document)
        files: dict[str, Any] = {}
        refused: dict[str, str] = {}
        version: list[tuple[str, bytes]] = [("", _digest(root))]
        folder = path.resolve().parent
        waiting = [("", root)]
        while waiting:
            name, raw = waiting.pop()
            files[name] = self._parse(raw)
            for found in _files_named_in(name, raw, files[name]):
                if found in files or found in refused:
                    continue
                try:
                    content = _beside(folder, found, self._max_bytes, len(files))
                except OSError as error:
                    refused[found] = f"cannot be read: {error.strerror or error}"
                    continue
                files[found] = None
                version.append((found, _digest(content)))
                waiting.append((found, content))
        if self._last is not None and self._last.version == version:
            return self._last
        return ApiDocument(files=files, refused=refused, version=version)

    async def _fetch(self, url: str) -> ApiDocument:
        if self._http is None:
            raise SourceUnavailable(
                "document: this board has no network to fetch it; download it, and write its path "
                "from the board's folder."
            )
        headers = {"accept": _ACCEPT, **self._tags}
        request = HttpRequest(method="GET", url=url, headers=headers, max_bytes=self._max_bytes)
        try:
            response = await self._http.send(request)
            return await self._of_response(url, response)
        except PegboardError as error:
            raise SourceUnavailable(f"The document cannot be fetched: {error}") from error

    async def _of_response(self, url: str, response: HttpResponse) -> ApiDocument:
        if response.status == 304 and self._last is not None:
            return self._last
        if response.status != 200:
            raise SourceUnavailable(f"its server answered {response.status}.")
        if response.truncated:
            raise SourceUnavailable(
                f"it has more than {self._max_bytes:,} bytes (max_document_bytes)."
            )
        content = response.content
        version = _digest(content)
        if self._last is None or self._last.version != version:
            data = await POOL.run(lambda: self._parse(content), owner=self._owner)
            self._last = ApiDocument(files={"": data}, refused={}, url=url, version=version)
        self._tags = {
            sent: response.headers[got]
            for sent, got in (("if-none-match", "etag"), ("if-modified-since", "last-modified"))
            if got in response.headers
        }
        return self._last

    def _parse(self, raw: bytes) -> Any:
        if len(raw) > self._max_bytes:
            raise SourceUnavailable(
                f"The document has more than {self._max_bytes:,} bytes (max_document_bytes)."
            )
        try:
            return parse_document(raw)
        except Unreadable as error:
            raise SourceUnavailable(
                f"The document cannot be read: {error}.", permanent=True
            ) from error


def _read_file(path: Path, most: int, document: str) -> bytes:
    try:
        return read_file(path, most=most)
    except FileNotFoundError as error:
        raise SourceUnavailable(
            f"document: there is no file '{_shorten(document)}' in the board's folder; write its "
            "path from there, or an address with https://",
            permanent=True,
        ) from error
    except OSError as error:
        hint = " (max_document_bytes)" if error.errno == errno.EFBIG else ""
        raise SourceUnavailable(
            f"document: '{_shorten(document)}' cannot be read: {error.strerror}{hint}.",
            permanent=True,
        ) from error


def _shorten(document: str) -> str:
    return truncate(document, _MAX_SHOWN)


def _beside(folder: Path, name: str, most: int, count: int) -> bytes:
    """Read a file of the document's folder or below; other files are refused."""
    path = Path(os.path.realpath(folder / name))
    if not path.is_relative_to(folder):
        raise OSError("it lies outside the document's folder")
    if path.suffix.lower() not in _SUFFIXES:
        raise OSError("only .json, .yaml and .yml files are read")
    if count >= _MAX_FILES:
        raise OSError(f"the document has more than {_MAX_FILES} files")
    return read_file(path, most=most)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _files_named_in(name: str, raw: bytes, data: Any) -> list[str]:
    """Return the relative files that a document refers to."""
    if not re.search(rb"\$ref['\"]?\s*:\s*['\"]?\s*[^#'\"\s]", raw):
        return []
    found: dict[str, None] = {}
    waiting: list[Any] = [data]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, (dict, list)) or id(cast("Any", node)) in seen:
            continue
        seen.add(id(cast("Any", node)))
        if isinstance(node, list):
            waiting.extend(cast("list[Any]", node))
            continue
        fields = mapping(cast("Any", node))
        path = ref.partition("#")[0] if isinstance(ref := fields.get("$ref"), str) else ""
        where = join_path(name, path) if path else None
        if where:
            found[where] = None
        waiting.extend(fields.values())
    return list(found)

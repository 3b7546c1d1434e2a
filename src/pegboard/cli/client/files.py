"""The files of a board that the command has opened, or of a server."""

import asyncio
import base64
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from pegboard.cli.client.call_results import read_object
from pegboard.cli.client.port import Answer
from pegboard.errors import Unavailable, UploadConflict

if TYPE_CHECKING:
    import httpx2

    from pegboard.core.principal import Principal
    from pegboard.features.files import Files

Progressed = Callable[[int, int], None]
"""Is told how many bytes of how many have arrived."""

_PART = 8 * 1024 * 1024
_CHUNK = 1024 * 1024
_OK = 300
_TRIES = 6
_PAUSE = 0.5
_PAGE = 500


class LocalFiles:
    """Implements `FilesClient` on a board of this process.

    Args:
        files: Those of the board.
        principal: The caller.
    """

    def __init__(self, files: "Files", principal: "Principal") -> None:
        self._files = files
        self._principal = principal

    async def list(self, *, limit: int, cursor: str) -> Answer:
        """One page of files, the newest first."""
        from pegboard.core.ports.accounts.file_store import FileQuery
        from pegboard.features.files.schemas import files_to_dict

        query = FileQuery(principal=self._principal, limit=limit, cursor=cursor)
        page = await self._files.list(query)
        usage = await self._files.usage(principal=self._principal)
        return files_to_dict(page, usage, self._files.limits, self._principal)

    async def show(self, file: str) -> Answer:
        """What is known of a file."""
        from pegboard.features.files.schemas import file_to_dict

        found = await self._files.find(file, principal=self._principal)
        return file_to_dict(found, self._principal)

    async def upload(
        self,
        path: Path,
        *,
        name: str,
        purpose: str = "",
        organisation: str = "",
        on_progress: Progressed,
    ) -> Answer:
        """Store a file of this machine."""
        from pegboard.features.files.schemas import file_to_dict

        size, done = path.stat().st_size, 0  # noqa: ASYNC240 - the command runs alone

        async def read() -> AsyncIterator[bytes]:
            nonlocal done
            with await asyncio.to_thread(path.open, "rb") as file:
                while chunk := await asyncio.to_thread(file.read, _CHUNK):
                    yield chunk
                    done += len(chunk)
                    on_progress(done, size)

        stored = await self._files.store(
            name, read(), purpose=purpose, organisation=organisation, principal=self._principal
        )
        return file_to_dict(stored, self._principal)

    async def read(self, file: str) -> AsyncGenerator[bytes]:
        """The content of a file, piece by piece."""
        found = await self._files.find(file, principal=self._principal)
        async for chunk in self._files.read(found):
            yield chunk

    async def delete(self, file: str) -> None:
        """Delete a file."""
        await self._files.delete(file, principal=self._principal)


class RemoteFiles:
    """Implements `FilesClient` over the HTTP API; what is interrupted goes on by itself.

    Args:
        client: Sends the requests.
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
        fail: Makes the error of a server that cannot be reached.
        pause: Seconds before the first of further tries; each waits twice as long.
    """

    def __init__(
        self,
        client: "httpx2.AsyncClient",
        ask: Callable[..., Awaitable[tuple[int, Answer]]],
        check: Callable[[int, Answer], Answer],
        fail: Callable[[Exception], Exception],
        *,
        pause: float = _PAUSE,
    ) -> None:
        self._client = client
        self._ask = ask
        self._check = check
        self._fail = fail
        self._pause = pause

    async def list(self, *, limit: int, cursor: str) -> Answer:
        """One page of files, the newest first."""
        query: dict[str, Any] = {"limit": limit, "cursor": cursor}
        return self._check(*await self._ask("GET", "/files", query=query))

    async def show(self, file: str) -> Answer:
        """What is known of a file."""
        return self._check(*await self._ask("GET", _path("files", file)))

    async def upload(
        self,
        path: Path,
        *,
        name: str,
        purpose: str = "",
        organisation: str = "",
        on_progress: Progressed,
    ) -> Answer:
        """Send a file of this machine in parts; an earlier upload of the same file goes on."""
        digest, size = await asyncio.to_thread(_digest, path)
        wanted = {
            "name": name,
            "size": size,
            "digest": digest,
            "purpose": purpose,
            "organisation": organisation,
        }
        upload = await self._find_upload(wanted)
        if upload is None:
            upload = self._check(*await self._ask("POST", "/uploads", body=wanted))
        address, most = _path("uploads", upload["id"]), min(_PART, upload["max_part_bytes"])
        with await asyncio.to_thread(path.open, "rb") as file:
            offset = upload["offset"]
            while offset < size:
                on_progress(offset, size)
                offset = await self._send_part(address, file, offset, most)
        on_progress(size, size)
        return self._check(*await self._ask("POST", f"{address}/finish"))

    async def read(self, file: str) -> AsyncGenerator[bytes]:
        """The content of a file, piece by piece."""
        import httpx2

        known = await self.show(file)
        address, start, tries = f"{_path('files', file)}/content", 0, 0
        while True:
            headers = {"Range": f"bytes={start}-", "If-Range": f'"{known["digest"]}"'}
            try:
                async with self._client.stream(
                    "GET", address, headers=headers if start else {}
                ) as response:
                    if response.status_code >= _OK:
                        await response.aread()
                        self._check(response.status_code, read_object(response))
                    async for chunk in response.aiter_bytes():
                        start += len(chunk)
                        tries = 0
                        yield chunk
                return
            except httpx2.HTTPError as error:
                if start >= known["size"]:
                    return
                tries += 1
                if not start or tries >= _TRIES:
                    raise self._fail(error) from error
                await asyncio.sleep(self._pause * 2**tries)

    async def delete(self, file: str) -> None:
        """Delete a file."""
        status, answer = await self._ask("DELETE", _path("files", file))
        if status >= _OK:
            self._check(status, answer)

    async def _find_upload(self, wanted: Answer) -> Answer | None:
        """An upload of the same file that was interrupted."""
        page = self._check(*await self._ask("GET", "/uploads", query={"limit": _PAGE}))
        return next(
            (it for it in page["uploads"] if all(it[key] == wanted[key] for key in wanted)), None
        )

    async def _send_part(self, address: str, file: BinaryIO, offset: int, most: int) -> int:
        """Send the part that begins at an offset; returns where the next one begins."""
        import httpx2

        file.seek(offset)
        part = await asyncio.to_thread(file.read, most)
        sha256 = base64.b64encode(hashlib.sha256(part).digest()).decode()
        headers = {"Upload-Offset": str(offset), "Content-Digest": f"sha-256=:{sha256}:"}
        for tries in range(1, _TRIES + 1):
            try:
                response = await self._client.patch(address, content=part, headers=headers)
                answer = self._check(response.status_code, read_object(response))
                return int(answer["offset"])
            except UploadConflict as conflict:
                if conflict.offset != offset:
                    return conflict.offset  # the answer to this part was lost
                if tries == _TRIES:
                    raise
            except Unavailable:
                if tries == _TRIES:
                    raise
            except httpx2.HTTPError as error:
                if tries == _TRIES:
                    raise self._fail(error) from error
            await asyncio.sleep(self._pause * 2 ** (tries - 1))
        raise AssertionError


def _path(kind: str, id: str) -> str:  # noqa: A002 - it is known by its id
    return f"/{kind}/{quote(id, safe='')}"


def _digest(path: Path) -> tuple[str, int]:
    """The SHA-256 of a file, and its size."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return digest, file.tell()

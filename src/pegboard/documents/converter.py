"""Fills the port of document converters: files are read in the sandbox, one process each."""

import json
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from pegboard.core.knowledge import ConvertedDocument, Receipt, TextBlock
from pegboard.core.ports.knowledge.picture_reader import PictureReader, UsageCounter
from pegboard.core.ports.sandbox import Sandbox, SandboxJob, SandboxLimits, SandboxOutcome
from pegboard.documents.fill_pages import fill_pages, find_empty_pages
from pegboard.documents.reply import (
    ConverterReply,
    DocumentReply,
    LibraryReply,
    PictureReply,
    ReadOrder,
    RefusalReply,
)
from pegboard.errors import ConfigError, DocumentUnreadable, Unavailable

_SCRIPT = Path(__file__).with_name("read_script.py")
_LIBRARIES = ("pypdfium2", "pdfplumber", "docx", "pptx", "openpyxl")
_INSTALL = "pip install 'pegboard[knowledge]'"
_MAX_PICTURE = 2000
_PAGE_WIDTH = 1600
_MAX_READ_PAGES = 200
"""Of one document, by a vision model; the others stay gaps."""
DEFAULT_LIMITS = SandboxLimits(
    timeout=600, cpu_seconds=180, memory_bytes=1 << 30, processes=16, output_bytes=128 << 20
)
"""Of one file: seconds (of a processor, and by the clock), memory, threads, bytes of its answer."""


class SandboxConverter:
    """Reads each file in a sandboxed process of its own, which ends with it.

    ```python
    converter = SandboxConverter(sandbox)
    document = await converter.convert(Path("handbook.pdf"))
    ```

    Args:
        sandbox: Where the process runs; without a back end that works, nothing is read.
        limits: Of each process.

    Attributes:
        find_reader: The vision model that reads pictures, and pages without text; asked for each
            file.
    """

    def __init__(self, sandbox: Sandbox, *, limits: SandboxLimits = DEFAULT_LIMITS) -> None:
        self.find_reader: Callable[[], PictureReader | None] = _find_no_reader
        self._sandbox = sandbox
        self._limits = limits

    async def why_unavailable(self) -> str:
        """Why files cannot be read here, and what to do; empty when they can."""
        missing = [name for name in _LIBRARIES if find_spec(name) is None]
        if missing:
            return f"{', '.join(missing)} is not installed; run {_INSTALL}"
        return await self._sandbox.why_no_commands()

    async def convert(
        self,
        file: Path,
        /,
        *,
        name: str = "",
        media_type: str = "",
        counter: UsageCounter | None = None,
    ) -> ConvertedDocument:
        """The text of a file.

        Args:
            file: The whole path of a file of this machine.
            name: What a person calls it; its extension is a hint only.
            media_type: What its sender says it is; a hint only.
            counter: Counts what a vision model uses; None where nothing is counted.

        Raises:
            DocumentUnreadable: It cannot be read; its `reason` says why.
            QuotaExceeded: `counter` allows no more pictures to be read.
            Unavailable: No sandbox or library is here.
        """
        found, fault = self._find_reader()
        reader = None if found is None else _CountedReader(found, counter)
        order = ReadOrder(
            job="convert",
            file=str(file),
            name=name,
            media_type=media_type,
            width=_MAX_PICTURE,
            has_reader=reader is not None,
        )
        try:
            answer = await self._run(file, order)
        except DocumentUnreadable as error:
            if fault is not None and error.reason == "no_vision_model":
                raise fault from error
            raise
        if reader is not None and isinstance(answer, PictureReply):
            return await _read_picture(answer, reader)
        if not isinstance(answer, DocumentReply):
            raise _broken()
        document = answer.document
        if reader is not None and (empty := find_empty_pages(document)):
            document = await self._read_pages(file, document, empty, reader)
        return document

    def _find_reader(self) -> tuple[PictureReader | None, ConfigError | None]:
        """The vision model, or why it cannot be used, which concerns pictures alone."""
        try:
            return self.find_reader(), None
        except ConfigError as error:
            return None, error

    async def _read_pages(
        self,
        file: Path,
        document: ConvertedDocument,
        empty: Sequence[int],
        reader: "_CountedReader",
    ) -> ConvertedDocument:
        """The document with what a vision model reads on its pages without text."""
        texts: dict[int, str] = {}
        for number in empty[:_MAX_READ_PAGES]:
            picture = await self.render_page(file, number, width=_PAGE_WIDTH)
            texts[number] = await reader.read(picture)
        filled = fill_pages(document, texts)
        if not filled.text.strip():
            raise DocumentUnreadable("Its pages are pictures without text.", reason="empty")
        return msgspec.structs.replace(filled, converter=f"{filled.converter}, {reader.name}")

    async def render_page(self, file: Path, number: int, /, *, width: int = 1200) -> bytes:
        """A page of a PDF, or a picture, as a PNG.

        Args:
            file: A file of this machine.
            number: Of the page, from 1.
            width: At most so many pixels on the longer side.

        Raises:
            DocumentUnreadable: It has no such page, or none that can be drawn.
            Unavailable: No sandbox or library is here.
        """
        order = ReadOrder(
            job="draw", file=str(file), page=number, width=min(max(width, 50), _MAX_PICTURE)
        )
        answer = await self._run(file, order)
        if not isinstance(answer, PictureReply):
            raise _broken()
        return answer.picture

    async def _run(self, file: Path, order: ReadOrder) -> ConverterReply:
        if not file.is_absolute():
            raise ValueError("A file is named by its whole path.")
        roots = _import_roots()
        outcome = await self._sandbox.run(
            SandboxJob(
                command=(sys.executable, "-I", "-S", "-W", "ignore", "-X", "utf8", str(_SCRIPT)),
                stdin=json.dumps([str(root) for root in roots]).encode()
                + b"\n"
                + msgspec.json.encode(order),
                readable=(file, *roots),
                limits=self._limits,
            )
        )
        answer = _decode(outcome, self._limits)
        if isinstance(answer, RefusalReply):
            raise DocumentUnreadable(answer.message, reason=answer.reason)
        if isinstance(answer, LibraryReply):
            raise Unavailable(
                f"This file cannot be read here: {answer.library} is not installed. "
                f"Run {_INSTALL}.",
                nothing_done=True,
                permanent=True,
            )
        return answer


class _CountedReader:
    """A vision model whose uses are counted."""

    def __init__(self, reader: PictureReader, counter: UsageCounter | None) -> None:
        self.name = reader.name
        self._reader = reader
        self._counter = counter

    async def read(self, picture: bytes) -> str:
        if self._counter is not None:
            await self._counter.check()
        found = await self._reader.read_picture(picture)
        if self._counter is not None:
            self._counter.add(self.name, found.usage)
        return found.text


def _find_no_reader() -> None:
    return None


async def _read_picture(reply: PictureReply, reader: _CountedReader) -> ConvertedDocument:
    text = (await reader.read(reply.picture)).strip()
    if not text:
        raise DocumentUnreadable("Nothing is written in the picture.", reason="empty")
    return ConvertedDocument(
        text=text,
        media_type=reply.media_type,
        blocks=(TextBlock("picture", 0, len(text)),),
        receipt=Receipt(pictures=1, characters=len(text)),
        converter=reader.name,
    )


def _import_roots() -> list[Path]:
    """The folders of Pegboard and of what its readers import."""
    found: dict[Path, None] = {}
    for name in ("pegboard", "msgspec", "bs4", "yaml", "typing_extensions", *_LIBRARIES):
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            is_package = spec.submodule_search_locations is not None
            found[origin.parents[1] if is_package else origin.parent] = None
    return list(found)


def _decode(outcome: SandboxOutcome, limits: SandboxLimits) -> ConverterReply:
    """What the process answered; how it ended says why there is no answer."""
    if outcome.stopped in ("timeout", "cpu"):
        is_cpu = outcome.stopped == "cpu" and limits.cpu_seconds is not None
        seconds = limits.cpu_seconds if is_cpu else limits.timeout
        raise DocumentUnreadable(
            f"It takes longer than {seconds:.0f} seconds to read.", reason="too_large"
        )
    if outcome.stopped == "memory" or outcome.stdout_bytes > limits.output_bytes:
        raise DocumentUnreadable("It takes too much memory to read.", reason="too_large")
    if outcome.exit_code != 0:
        raise _broken()
    try:
        return msgspec.json.decode(outcome.stdout, type=ConverterReply)
    except msgspec.DecodeError as error:
        raise _broken() from error


def _broken() -> DocumentUnreadable:
    return DocumentUnreadable("It is damaged: its reader ended without an answer.", reason="broken")

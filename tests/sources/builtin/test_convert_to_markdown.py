import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import always, client_for, reply, serving

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import ConvertedDocument, DocumentFinding, Gap, PageSpan, Receipt
from pegboard.core.ports.services import Services
from pegboard.errors import DocumentUnreadable, InvalidRequest, SourceUnavailable
from pegboard.sources.builtin.tools.convert_to_markdown import (
    availability,
    convert_to_markdown,
    probe,
)


class FakeConverter:
    """Two pages of what is in the file."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason
        self.asked: list[tuple[str, str]] = []
        self.files: list[Path] = []

    async def convert(
        self, file: Path, /, *, name: str = "", media_type: str = "", counter: Any = None
    ) -> ConvertedDocument:
        self.asked.append((name, media_type))
        self.files.append(file)
        text = await asyncio.to_thread(file.read_text)
        if not text:
            raise DocumentUnreadable("It is empty.", reason="empty")
        return ConvertedDocument(
            text=f"{text}\n\n{text}",
            media_type="text/plain",
            title="Handbook",
            pages=(PageSpan(1, 0, len(text), "i"), PageSpan(2, len(text) + 2, 2 * len(text) + 2)),
            findings=(DocumentFinding(kind="hidden", start=1, end=3, reason="It is white."),),
            receipt=Receipt(gaps=(Gap(2, "A chart."), Gap(0, "A sheet."))),
        )

    async def render_page(self, file: Path, number: int, /, *, width: int = 1200) -> bytes:
        raise NotImplementedError

    async def why_unavailable(self) -> str:
        return self.reason


def _context(tmp_path: Path, **services: Any) -> ToolContext[Services]:
    return ToolContext(deps=Services(workspace=tmp_path, **services))


async def test_a_file_of_the_workspace_is_read_part_by_part(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 150)
    (working := tmp_path / "working").mkdir()
    converter = FakeConverter()
    ctx = _context(tmp_path, converter=converter, working=working)

    first = await convert_to_markdown("a.txt", ctx, max_length=200)
    second = await convert_to_markdown("a.txt", ctx, offset=first["next_offset"] or 0)

    assert first == {
        "source": "a.txt",
        "title": "Handbook",
        "media_type": "text/plain",
        "text": "x" * 150 + "\n\n" + "x" * 48,
        "offset": 0,
        "length": 302,
        "next_offset": 200,
        "pages": [
            {"number": 1, "label": "i", "offset": 0},
            {"number": 2, "label": "", "offset": 152},
        ],
        "gaps": ["Page 2: A chart.", "A sheet."],
        "hidden": ["Characters 1 to 3: It is white."],
    }
    assert (second["text"], second["next_offset"], second["hidden"]) == ("x" * 102, None, [])
    assert converter.asked == [("a.txt", "")] * 2
    assert {file.parents[1] for file in converter.files} == {working}
    assert [*working.iterdir()] == []


async def test_a_document_of_the_web_is_read_with_its_name_and_type(tmp_path: Path) -> None:
    answer = reply(b"text", headers={"Content-Type": "text/plain; charset=utf-8"})
    converter = FakeConverter()
    async with serving(always(answer)) as server, client_for(server) as client:
        ctx = _context(tmp_path, converter=converter, http=client)
        document = await convert_to_markdown(f"http://{server.authority}/a%20b.txt?x=1", ctx)

    assert document["text"] == "text\n\ntext"
    assert converter.asked == [("a b.txt", "text/plain")]


async def test_what_the_converter_refuses_is_refused_and_no_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    converter = FakeConverter()

    with pytest.raises(DocumentUnreadable, match="empty"):
        await convert_to_markdown("a.txt", _context(tmp_path, converter=converter))

    assert not converter.files[0].exists()


async def test_a_page_that_is_not_found_and_an_offset_beyond_the_end_are_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.txt").write_text("text")
    async with (
        serving(always(reply(status=404))) as server,
        client_for(server) as client,
    ):
        ctx = _context(tmp_path, converter=FakeConverter(), http=client)
        with pytest.raises(InvalidRequest, match="answered 404"):
            await convert_to_markdown(f"http://{server.authority}/", ctx)
        with pytest.raises(InvalidRequest, match="beyond its end"):
            await convert_to_markdown("a.txt", ctx, offset=99)
        with pytest.raises(InvalidRequest):
            await convert_to_markdown("../a.txt", ctx)


async def test_without_a_converter_it_is_unavailable_with_the_reason(tmp_path: Path) -> None:
    assert "sandbox" in availability(Services())
    assert await probe(Services(converter=FakeConverter("no library"))) == "no library"
    with pytest.raises(SourceUnavailable, match="sandbox"):
        await convert_to_markdown("a.txt", _context(tmp_path))

"""Content of every kind, there and back."""

import base64
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from pydantic_core import from_json
from tests.servers.http.live import live
from tests.sources.mcp.opening import opened

from pegboard import ToolRegistry
from pegboard.core.principal import LOCAL
from pegboard.core.result import (
    WRAPPED_RESULT,
    AudioPart,
    ImagePart,
    ResourcePart,
    TextPart,
    ToolResult,
)
from pegboard.errors import ToolFailed
from pegboard.execution.results.handles import load_result
from pegboard.runtime import Settings
from pegboard.sources.mcp.content_blocks import (
    parts_of_message,
    sample_content,
    to_part,
    to_result,
    to_whole_result,
)

DATA = base64.b64encode(b"\x00\x01").decode()


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (types.TextContent(text="a"), TextPart("a")),
        (types.ImageContent(data=DATA, mime_type="image/png"), ImagePart(b"\0\1", "image/png")),
        (types.AudioContent(data=DATA, mime_type="audio/wav"), AudioPart(b"\0\1", "audio/wav")),
        (
            types.ResourceLink(uri="a://b", name="b", mime_type="text/plain"),
            ResourcePart("board://s/a://b", "text/plain"),
        ),
        (
            types.EmbeddedResource(
                resource=types.TextResourceContents(uri="a://b", text="t", mime_type="text/x")
            ),
            ResourcePart("board://s/a://b", "text/x", text="t"),
        ),
        (
            types.EmbeddedResource(resource=types.BlobResourceContents(uri="a://b", blob=DATA)),
            ResourcePart("board://s/a://b", "", data=b"\0\1"),
        ),
    ],
    ids=["text", "image", "audio", "link", "embedded-text", "embedded-blob"],
)
def test_each_kind_of_content_becomes_a_part(block: Any, part: Any) -> None:
    assert to_part("s", block) == part


def test_a_result_keeps_its_structure_and_says_itself_that_it_failed() -> None:
    plain = types.CallToolResult(
        content=[types.TextContent(text="no")], structured_content={"a": 1}, is_error=True
    )
    empty = types.CallToolResult(content=[])

    assert to_result("s", plain) == ToolResult(content="no", structured={"a": 1}, is_error=True)
    assert to_result("s", empty) == ToolResult(content=())


def test_data_that_is_not_base64_is_the_servers_fault() -> None:
    with pytest.raises(ToolFailed, match="not base64"):
        to_part("s", types.ImageContent(data="§", mime_type="image/png"))


def test_messages_for_a_model_name_what_only_tools_of_models_use() -> None:
    blocks = [types.TextContent(text="a"), types.ToolUseContent(name="t", id="1", input={})]

    assert parts_of_message("s", blocks) == (TextPart("a"), TextPart("[tool_use]"))
    assert parts_of_message("s", types.TextContent(text="a")) == (TextPart("a"),)


def test_a_models_answer_is_one_piece_of_content() -> None:
    image = sample_content([ImagePart(b"\0\1", "image/png")])
    audio = sample_content([AudioPart(b"\0\1", "audio/wav")])
    texts = sample_content([TextPart("a"), TextPart("b")])

    assert image == types.ImageContent(data=DATA, mime_type="image/png")
    assert audio == types.AudioContent(data=DATA, mime_type="audio/wav")
    assert texts == types.TextContent(text="a\nb")


MODULE = """
from pegboard import tool


@tool(effect="read")
def shelves() -> list[dict[str, int]]:
    \"\"\"Every article with its shelf.\"\"\"
    return [{"article": number, "shelf": number % 80} for number in range(20_000)]


@tool(effect="read")
def novel() -> str:
    \"\"\"A long text.\"\"\"
    return "It was a dark night. " * 20_000
"""


def test_pictures_and_files_beside_a_page_stay_with_the_whole() -> None:
    handle = "pegboard://results/ab"
    page = types.CallToolResult(
        content=[
            types.TextContent(text="[1, ... page 1 of 2"),
            types.ImageContent(data=DATA, mime_type="image/png"),
            types.ResourceLink(uri="pegboard://results/file", name="a.csv", mime_type="text/csv"),
            types.ResourceLink(uri=handle, name="the whole result"),
        ]
    )
    stored = types.TextResourceContents(uri=handle, mime_type="application/json", text="[1,2]")

    whole = to_whole_result("shop", page, [stored], {WRAPPED_RESULT: True})

    text, image, file = whole.content
    assert text == TextPart("[1,2]")
    assert image == ImagePart(b"\0\1", "image/png")
    assert isinstance(file, ResourcePart)
    assert file.media_type == "text/csv"
    assert whole.structured == {"result": [1, 2]}


@pytest.mark.parametrize(
    "contents",
    [
        [],
        [types.BlobResourceContents(uri="pegboard://results/ab", blob=DATA)],
        [
            types.TextResourceContents(
                uri="pegboard://results/ab", mime_type="application/json", text="[1,"
            )
        ],
    ],
    ids=["nothing", "bytes", "broken JSON"],
)
def test_a_whole_that_cannot_be_read_leaves_the_page(contents: list[Any]) -> None:
    page = types.CallToolResult(content=[types.TextContent(text="page 1")])

    assert to_whole_result("shop", page, contents, None).content == "page 1"


@pytest.mark.parametrize(("action", "length"), [("shelves", 20_000), ("novel", 420_000)])
async def test_the_whole_result_of_a_board_behind_a_board_is_stored_here(
    tmp_path: Path, action: str, length: int
) -> None:
    (tmp_path / "inner_tools.py").write_text(MODULE)
    board = tmp_path / "board.yaml"
    board.write_text("sources: [{kind: functions, name: my, config: {files: [inner_tools.py]}}]")
    settings = Settings.model_validate({"board": board, "port": 0, "reload": "off"})
    async with live(settings) as url, opened({"url": f"{url}/mcp"}) as source:
        registry = ToolRegistry(await source.tools())
        result = await registry.call(f"shop__my__{action}")
        found = await load_result(result.meta.handle, registry.environment.results, LOCAL.owner)
        value = from_json(found.body) if action == "shelves" else found.body.decode()

    assert not result.is_error
    assert len(value) == length
    assert result.meta.total_bytes == len(found.body)

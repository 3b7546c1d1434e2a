"""Content of every kind, there and back."""

import base64
from typing import Any

import mcp_types as types
import pytest

from pegboard.core.result import AudioPart, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.errors import ToolFailed
from pegboard.sources.mcp.content_blocks import parts_of_message, sample_content, to_part, to_result

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

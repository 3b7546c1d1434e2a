"""Translates LangChain's errors and answers into Pegboard's."""

import base64
import binascii
import json
import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from pegboard.concurrency.log_once import log_once
from pegboard.core.result import (
    Artifact,
    AudioPart,
    ImagePart,
    Part,
    ResourcePart,
    TextPart,
    ToolResult,
)
from pegboard.core.text.truncate import truncate
from pegboard.errors import (
    PegboardError,
    Problem,
    SourceUnavailable,
    ToolArgumentError,
    ToolFailed,
    ToolOutputError,
)
from pegboard.tools.import_objects import missing_module
from pegboard.tools.results import wrap

MAX_MESSAGE = 1_000
"""Characters of what a tool says about its failure; the cause has all of them."""

_LOG = logging.getLogger("pegboard.sources")
_BLOCKS = frozenset(
    {"text", "image", "image_url", "audio", "video", "file", "json", "text-plain", "document"}
)


@contextmanager
def translate_build_errors(reference: str) -> Generator[None]:
    """Translate the errors of foreign code that makes tools.

    Raises:
        SourceUnavailable: It failed; the detail is in the log, as its text may be secret.
    """
    try:
        yield
    except PegboardError:
        raise
    except Exception as error:
        if missing := missing_module(error):
            raise SourceUnavailable(f"'{reference}' {missing}") from error
        log_once(_LOG, f"{reference} failed to make its tools", error)
        raise SourceUnavailable(
            f"'{reference}' failed to make its tools ({type(error).__name__}); the log says why",
            is_logged=True,
        ) from error


@contextmanager
def translate_call_errors(name: str, schema: Any) -> Generator[None]:
    """Translate the errors of a call.

    Args:
        name: The tool in messages.
        schema: The model of its arguments; an error of another model is the tool's own failure.

    Raises:
        ToolArgumentError: Its own validators refuse the arguments.
        ToolFailed: It raised `ToolException`.
    """
    from langchain_core.tools import ToolException
    from pydantic import ValidationError
    from pydantic.v1 import ValidationError as ValidationErrorV1

    try:
        yield
    except ToolException as error:
        raise ToolFailed(truncate(str(error), MAX_MESSAGE) or f"'{name}' failed.") from error
    except ValidationError as error:
        if schema is None or isinstance(schema, dict) or error.title != _title_of(schema):
            raise
        faults: Sequence[Any] = error.errors(include_url=False, include_context=False)
        raise ToolArgumentError(name, _problems(faults)) from error
    except ValidationErrorV1 as error:
        if error.model is not schema:
            raise
        raise ToolArgumentError(name, _problems(error.errors())) from error


def _title_of(model: Any) -> str:
    """The title of a model in pydantic's errors."""
    return getattr(model, "model_config", {}).get("title") or model.__name__


def result_of(name: str, output: Any) -> ToolResult:
    """Convert the answer of a tool: a message, content blocks, or any value.

    Raises:
        ToolFailed: The answer is a command for a LangGraph graph.
        ToolOutputError: The value is not JSON data.
    """
    from langchain_core.messages import ToolMessage
    from langchain_core.messages.tool import ToolOutputMixin

    if isinstance(output, ToolMessage):
        return _of_message(name, output)
    items = cast("list[Any]", output) if isinstance(output, list) else [output]
    if any(isinstance(item, ToolOutputMixin) for item in items):
        raise ToolFailed(f"'{name}' answered with a command to its graph, and there is none here.")
    return _of_content(output)


def _of_message(name: str, message: Any) -> ToolResult:
    result = _of_content(message.content)
    if message.status == "error":
        said = truncate(result.text, MAX_MESSAGE) or f"'{name}' failed."
        return ToolResult(content=result.content, is_error=True, error=ToolFailed(said))
    artifact: Any = message.artifact
    if artifact is None:
        return _to_structured(result)
    try:
        given = wrap(artifact)
    except ToolOutputError:
        _LOG.warning("%s: its artifact, a %s, is not JSON", name, type(artifact).__name__)
        return result
    return ToolResult(
        content=result.content,
        structured=given.structured,
        artifacts=(*result.artifacts, *given.artifacts),
    )


def _to_structured(result: ToolResult) -> ToolResult:
    """Parse the text of a message that is a JSON object or list."""
    if not isinstance(result.content, str) or not result.content.startswith(("{", "[")):
        return result
    try:
        return ToolResult(content=result.content, structured=json.loads(result.content))
    except (ValueError, RecursionError):
        return result


def _of_content(content: Any) -> ToolResult:
    if not isinstance(content, list) or not content:
        return wrap(content)
    blocks = cast("list[Any]", content)
    if not all(map(_is_block, blocks)) or all(isinstance(block, str) for block in blocks):
        return wrap(blocks)
    return wrap([_of_block(block) for block in blocks])


def _is_block(item: Any) -> bool:
    if isinstance(item, str):
        return True
    return isinstance(item, dict) and cast("dict[str, Any]", item).get("type") in _BLOCKS


def _of_block(block: str | dict[str, Any]) -> Part | Artifact:
    """Convert a content block in the format of LangChain, OpenAI or Anthropic."""
    if isinstance(block, str):
        return TextPart(text=block)
    kind = block["type"]
    if kind in ("text", "text-plain") and isinstance(block.get("text"), str):
        return TextPart(text=block["text"])
    data, media_type = _data_of(block)
    if data is None:
        url = _url_of(block)
        if url:
            return ResourcePart(uri=url, media_type=media_type)
        return TextPart(text=json.dumps(block.get("json", block), ensure_ascii=False, default=str))
    match kind:
        case "image" | "image_url":
            return ImagePart(data=data, media_type=media_type or "image/png")
        case "audio":
            return AudioPart(data=data, media_type=media_type or "audio/wav")
        case _:
            name = str(block.get("filename") or block.get("name") or "file")
            return Artifact(
                name=name,
                media_type=media_type or "application/octet-stream",
                size=len(data),
                data=data,
            )


def _data_of(block: Mapping[str, Any]) -> tuple[bytes | None, str]:
    """The bytes of a block, and their media type."""
    source: Any = block.get("source")
    if isinstance(source, dict):
        return _data_of(cast("dict[str, Any]", source))
    media_type = str(block.get("mime_type") or block.get("media_type") or "")
    text: Any = block.get("base64") or block.get("data")
    url = _url_of(block)
    if not isinstance(text, str) and url.startswith("data:"):
        head, _, text = url.removeprefix("data:").partition(",")
        media_type = head.partition(";")[0]
    if not isinstance(text, str):
        return None, media_type
    try:
        return base64.b64decode(text, validate=True), media_type
    except (binascii.Error, ValueError):
        return None, media_type


def _url_of(block: Mapping[str, Any]) -> str:
    for key in ("url", "image_url", "source"):
        value: Any = block.get(key)
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get("url")
        if isinstance(value, str):
            return value
    return ""


def _problems(faults: Sequence[Any]) -> tuple[Problem, ...]:
    return tuple(
        Problem(path=".".join(map(str, fault["loc"])), message=str(fault["msg"]))
        for fault in faults
    )

"""`generate_image`: makes a picture from a description, with an images API like OpenAI's."""

import asyncio
import base64
import binascii
import json
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from pegboard.core.context import ToolContext
from pegboard.core.ports.http import HttpRequest
from pegboard.core.ports.services import Services
from pegboard.core.result import Artifact, ToolResult
from pegboard.errors import InvalidRequest, SourceUnavailable, ToolFailed, Unavailable
from pegboard.sources.builtin.provider_access import (
    ProviderSettings,
    ask_provider,
    clean_line,
    client_of,
    read_object,
    why_no_client,
)
from pegboard.sources.builtin.service_access import limit_time, services_of
from pegboard.tools import tool

_OWN_URL = "https://api.openai.com/v1"
_SECONDS = 170.0
_DOWNLOAD_SECONDS = 30.0
_MAX_BYTES = 20_000_000
_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF8", "image/gif", "gif"),
)
_NO_PICTURE = "The images API did not answer with a picture."
_SETTINGS = ProviderSettings(url_setting="PEGBOARD_IMAGE_URL", key_setting="PEGBOARD_IMAGE_KEY")


def availability(services: Services) -> str:
    """Return why the tool is unavailable: it needs a key, or an API that takes none."""
    access = services.providers.images
    if not (access.key or access.url):
        return "it needs an images API: set PEGBOARD_IMAGE_KEY, or only PEGBOARD_IMAGE_URL"
    return why_no_client(services)


@tool(
    effect="write",
    destructive=False,
    category="media",
    timeout=180,
    tags=("image", "picture", "draw"),
)
async def generate_image(
    prompt: Annotated[str, Field(min_length=1, max_length=8000)],
    ctx: ToolContext[Services],
    *,
    size: Literal["auto", "1024x1024", "1536x1024", "1024x1536"] = "auto",
) -> ToolResult:
    """Make a picture from a description. It is stored as a file, and the answer has its handle.

    It takes up to three minutes, and each picture costs money.

    Args:
        prompt: What the picture shows, in which style, such as "a watercolour of a fox in snow".
        ctx: Knows which API to ask.
        size: Width and height; "auto" leaves it to the API.
    """
    services = services_of(ctx)
    access = services.providers.images
    if reason := availability(services):
        raise SourceUnavailable(
            f"'generate_image' is unavailable: {reason}.", nothing_done=True, permanent=True
        )
    asked: dict[str, Any] = {"model": access.model, "prompt": prompt, "n": 1}
    if size != "auto":
        asked["size"] = size
    headers = {"Content-Type": "application/json"}
    if access.key:
        headers["Authorization"] = f"Bearer {access.key}"
    request = HttpRequest(
        method="POST",
        url=f"{(access.url or _OWN_URL).rstrip('/')}/images/generations",
        headers=headers,
        content=json.dumps(asked).encode(),
        timeout=_SECONDS,
        max_bytes=2 * _MAX_BYTES,
        upstream="images",
    )
    answer = await read_object(await ask_provider(ctx, request, _SETTINGS))
    made = _first(answer)
    data = await _picture(ctx, made)
    return _result(data, made, model=access.model)


def _first(answer: dict[str, Any]) -> dict[str, Any]:
    found: Any = answer.get("data")
    first: Any = cast("list[Any]", found)[0] if isinstance(found, list) and found else None
    if not isinstance(first, dict):
        raise ToolFailed(_NO_PICTURE)
    return cast("dict[str, Any]", first)


async def _picture(ctx: ToolContext[Services], made: dict[str, Any]) -> bytes:
    """Return the bytes, from the answer itself or from the address in it."""
    inline, url = made.get("b64_json"), made.get("url")
    if isinstance(inline, str):
        try:
            return await asyncio.to_thread(base64.b64decode, inline, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ToolFailed(_NO_PICTURE) from error
    if not isinstance(url, str):
        raise ToolFailed(_NO_PICTURE)
    request = HttpRequest(
        method="GET", url=url, timeout=_DOWNLOAD_SECONDS, max_bytes=_MAX_BYTES
    )  # without the key: the picture may be anywhere
    try:
        response = await client_of(services_of(ctx)).send(limit_time(request, ctx.remaining()))
    except (InvalidRequest, Unavailable) as error:
        raise ToolFailed(f"The picture was made, but it cannot be fetched. {error.message}") from (
            error.__cause__ or error
        )
    if response.status != 200 or response.truncated:
        problem = "is too large" if response.truncated else f"is not there ({response.status})"
        raise ToolFailed(f"The picture was made, but it {problem}.")
    return response.content


def _result(data: bytes, made: dict[str, Any], *, model: str) -> ToolResult:
    media_type, ending = _kind_of(data)
    structured: dict[str, Any] = {"media_type": media_type, "size": len(data), "model": model}
    said = f"A picture, {media_type}, {len(data)} bytes."
    if revised := clean_line(made.get("revised_prompt"), most=2000):
        structured["revised_prompt"] = revised
    artifact = Artifact(name=f"image.{ending}", media_type=media_type, size=len(data), data=data)
    return ToolResult(content=said, structured=structured, artifacts=(artifact,))


def _kind_of(data: bytes) -> tuple[str, str]:
    """Return the media type and the ending of a picture, by its first bytes."""
    for start, media_type, ending in _KINDS:
        if data.startswith(start):
            return media_type, ending
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp", "webp"
    raise ToolFailed(_NO_PICTURE)

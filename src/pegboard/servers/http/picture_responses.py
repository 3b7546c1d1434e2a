"""SVG and Mermaid responses of plans, runs and graphs."""

from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response
from pydantic import Field

from pegboard.features.runs.schemas import RunWait
from pegboard.rendering.svg import STYLE_HASH

SVG = "image/svg+xml"
MERMAID = "text/vnd.mermaid"
_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src '{STYLE_HASH}'; frame-ancestors 'none'"
    )
}
_SAID = "By default JSON, or SVG where `Accept` names `image/svg+xml` and no JSON."

Format = Annotated[Literal["", "json", "mermaid", "svg"], Query(alias="format", description=_SAID)]


class RunViewFilter(RunWait):
    """Query of `GET /runs/{id}`."""

    format: Annotated[
        Literal["", "json", "mermaid", "svg", "timeline"],
        Field(description=f"{_SAID} `timeline` is an SVG of each step from its start to its end."),
    ] = ""


PICTURE: dict[int | str, dict[str, Any]] = {200: {"content": {SVG: {"schema": {"type": "string"}}}}}
"""OpenAPI `responses` of a route that also returns SVG."""

DRAWINGS: dict[int | str, dict[str, Any]] = {
    200: {"content": {name: {"schema": {"type": "string"}} for name in (SVG, MERMAID)}}
}
"""OpenAPI `responses` of a route that also returns SVG and Mermaid."""


def choose_format(request: Request, given: str) -> str:
    """The format of the response: from the query, else from `Accept`."""
    if given:
        return given
    accepted = request.headers.get("accept", "")
    return "svg" if SVG in accepted and "application/json" not in accepted else "json"


def svg_response(svg: str) -> Response:
    """An SVG response; its own style is the only thing that its security policy allows."""
    return Response(svg, media_type=SVG, headers=_HEADERS)


def mermaid_response(mermaid: str) -> Response:
    """A Mermaid response."""
    return Response(mermaid, media_type=MERMAID)

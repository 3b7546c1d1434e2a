"""Pages for browsers: `/` leads to the console, `/docs` lists the routes.

Where the console is not built, `/` says what this server is. Both pages are static, contain no
script and nothing from elsewhere, and tell no more than the source code does, so they need no
token.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.responses import RedirectResponse

from pegboard.servers.http.console_files import ConsoleFiles
from pegboard.servers.http.json_body import JsonResponse
from pegboard.servers.http.openapi import document

_LINKS = {
    "docs": ("/docs", "The routes of this server"),
    "openapi": ("/v1/openapi.json", "The same as an OpenAPI document"),
    "health": ("/healthz", "Whether the server responds"),
    "ready": ("/readyz", "Whether its sources work"),
}
_FIRST = ("tools", "calls", "plans", "runs", "approvals")
"""The groups of routes that a reader needs first, in this order; the others follow."""

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}code{font-family:ui-monospace,monospace}"
    "summary{cursor:pointer;padding:.2rem 0}table{border-collapse:collapse;margin:.5rem 0}"
    "td,th{border:1px solid #8888;padding:.2rem .5rem;text-align:left;vertical-align:top}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "Vary": "Accept",
}


def add_pages(app: FastAPI, *, needs_token: bool, console: ConsoleFiles) -> None:
    """Add the two pages to an application.

    Args:
        app: The application, with its routes.
        needs_token: Whether callers must send a token.
        console: Where `/` leads browsers.
    """
    home = render_home(needs_token=needs_token)
    reference = ""

    async def show_home(request: Request) -> Response:
        if "text/html" in request.headers.get("accept", ""):
            if console.find() is not None:  # relative: a proxy may have removed a prefix
                return RedirectResponse("ui/", 307, headers={"Vary": "Accept"})
            return _html_response(home)
        links = {name: path for name, (path, _) in _LINKS.items()}
        return JsonResponse({"name": "Pegboard", "links": links}, headers={"Vary": "Accept"})

    async def show_reference(_request: Request) -> Response:
        nonlocal reference
        reference = reference or render_reference(document(app, needs_token=needs_token))
        return _html_response(reference)

    async def show_console(_request: Request) -> Response:
        return RedirectResponse("ui/", 307)

    app.add_route("/", show_home, include_in_schema=False)
    app.add_route("/ui", show_console, include_in_schema=False)
    app.add_route("/docs", show_reference, include_in_schema=False)


def show_message(title: str, text: str, *, status: int = 200, console: str = "") -> Response:
    """A page that says one thing, at the end of something that a person did elsewhere.

    Args:
        title: The heading.
        text: What it says.
        status: Of the answer.
        console: The address of the console, for a link to it; empty for none.
    """
    link = f'<p><a href="{escape(console)}">Go to the console</a></p>' if console else ""
    page = _page(escape(title), f"<p>{_text(text)}</p>{link}")
    return Response(page, status, media_type="text/html", headers=_HEADERS)


def render_home(*, needs_token: bool) -> str:
    """The page at `/`."""
    links = "".join(
        f'<li><a href="{path}"><code>{path}</code></a>: {said}</li>'
        for path, said in _LINKS.values()
    )
    token = (
        "<p>Requests need the header <code>Authorization: Bearer TOKEN</code>; the pages here, "
        "<code>/healthz</code> and <code>/readyz</code> do not.</p>"
        if needs_token
        else ""
    )
    return _page(
        "Pegboard",
        "<p>This is a Pegboard server: it lists, searches, explains and calls the tools of a "
        f"board, and records every call.</p><ul>{links}</ul>"
        f"<p>MCP clients connect to <code>/mcp</code>.</p>{token}",
    )


def render_reference(api: Mapping[str, Any]) -> str:
    """The page at `/docs`: the operations of an OpenAPI document, by tag."""
    groups: dict[str, list[str]] = {}
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            tag = next(iter(operation.get("tags", ())), "other")
            groups.setdefault(tag, []).append(_operation(api, method.upper(), path, operation))
    tags = [
        *(tag for tag in _FIRST if tag in groups),
        *(tag for tag in groups if tag not in _FIRST),
    ]
    sections = "".join(f"<h2>{escape(tag)}</h2>{''.join(groups[tag])}" for tag in tags)
    return _page(
        "Pegboard: routes",
        "<p>Every path exists below <code>/v1</code> too. The complete schemas are in "
        f'<a href="/v1/openapi.json"><code>/v1/openapi.json</code></a>.</p>{sections}',
    )


def _operation(api: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> str:
    parameters = (
        (f"{item['name']} ({item['in']})", item["schema"], item.get("required", False))
        for item in operation.get("parameters", ())
    )
    body = _resolve(api, _schema_of(operation.get("requestBody", {})))
    required = body.get("required", ())
    fields = (
        (name, schema, name in required) for name, schema in body.get("properties", {}).items()
    )
    answers = (
        f"<li><code>{status}</code> {_text(answer['description'])}</li>"
        for status, answer in operation["responses"].items()
    )
    first, _, more = operation.get("description", "").partition("\n\n")
    return (
        f"<details><summary><code>{method} {escape(path)}</code> {_text(first)}</summary>"
        f"<p>{_text(more)}</p>"
        f"{_table('Parameter', parameters)}{_table('Field of the body', fields)}"
        f"<ul>{''.join(answers)}</ul></details>"
    )


def _table(title: str, rows: Iterable[tuple[str, Mapping[str, Any], bool]]) -> str:
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_type_of(schema))}"
        f"{', required' if is_required else ''}</td>"
        f"<td>{_text(schema.get('description', ''))}</td></tr>"
        for name, schema, is_required in rows
    )
    head = f"<tr><th>{title}</th><th>Type</th><th>Meaning</th></tr>"
    return f"<table>{head}{cells}</table>" if cells else ""


def _schema_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    content: Mapping[str, Mapping[str, Any]] = body.get("content", {})
    for media in content.values():
        return media.get("schema", {})
    return {}


def _resolve(api: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return api["components"]["schemas"][name] if name else schema


def _type_of(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(repr(item) for item in schema["enum"])
    kinds = [_type_of(item) for item in schema.get("anyOf", schema.get("oneOf", ()))]
    return " | ".join(kinds) or str(schema.get("type", "any"))


def _text(text: str) -> str:
    """Escape text, with its `code` as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _page(title: str, content: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{content}</body></html>"
    )


def _html_response(page: str) -> Response:
    return Response(page, media_type="text/html", headers=_HEADERS)

"""`/ui/`: the files of the web console, as they were built from `web/`."""

import re
from collections.abc import Sequence
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from pegboard.servers.http.problem_details import problem_response

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; media-src 'self'; frame-src 'self'; font-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_HEADERS = {"Content-Security-Policy": CSP}
_FOR_EVER = "public, max-age=31536000, immutable"
FOLDERS = (Path(__file__).with_name("console"), Path(__file__).parents[4] / "web" / "dist")
"""Where a built console is: in a wheel, and in a clone."""

_OWN_ADDRESS = re.compile(r"""(?<=["'])(?:\./|/ui/)(?=[\w.-])""")
_MISSING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Pegboard</title></head>
<body><h1>The console is not built</h1>
<p>This installation has no web console; everything else works.</p>
<p>In a clone, <code>make web</code> builds it (it needs npm), then load this page again. A wheel
contains the console if it was built from a clone in which <code>make web</code> was run.</p>
</body></html>
"""


class ConsoleFiles:
    """ASGI application for all paths below `/ui`.

    Files below `assets/` have a hash in their name and are kept by browsers for ever. Every path
    without a file is a page of the console and answers `index.html`, in which addresses of files
    become relative to that path, so that the console works behind any prefix.

    Args:
        folders: Where a built console may be. As long as there is none, a page explains how to
            build it.
    """

    def __init__(self, folders: Sequence[Path] = FOLDERS) -> None:
        self._folders = folders
        self._compressed = GZipMiddleware(self._answer, minimum_size=500, compresslevel=6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._compressed(scope, receive, send)

    def find(self) -> Path | None:
        """The folder of the built console; None if there is none."""
        return next((item for item in self._folders if (item / "index.html").is_file()), None)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path_params"].get("path", ""))
        response = await self._respond(scope, path)
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, path: str) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            detail = f"{scope['method']} is not allowed at this path."
            return problem_response(405, detail, headers={"Allow": "GET, HEAD"})
        folder = self.find()
        if folder is None:
            return HTMLResponse(_MISSING, 404, headers=_HEADERS)
        is_asset = path.startswith("assets/")
        if path and path != "index.html":
            try:
                found = await StaticFiles(directory=folder).get_response(path, scope)
            except HTTPException:
                found = None
            if found is not None:
                found.headers.update(_HEADERS)
                found.headers["Cache-Control"] = _FOR_EVER if is_asset else "no-cache"
                return found
        if is_asset:
            return problem_response(404, "There is nothing at this path.")
        page = (folder / "index.html").read_text(encoding="utf-8")
        up = "../" * _depth(scope) or "./"
        return HTMLResponse(
            _OWN_ADDRESS.sub(up, page), headers=_HEADERS | {"Cache-Control": "no-cache"}
        )


def _depth(scope: Scope) -> int:
    """How many folders below `/ui/` a browser takes this path to be; `%2F` is no slash there."""
    raw = scope.get("raw_path", b"").decode("latin-1") or scope["path"]
    return raw.partition("/ui/")[2].count("/")

"""The program of the confined process: one job on somebody else's template or page, then the end.

Run as a script by `confined_process.py`, never imported by it. It is given its import path, takes
limits on itself before it reads anything foreign, and writes one JSON object. Imports nothing of
Pegboard.
"""

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, cast

Job = Callable[[Mapping[str, Any]], dict[str, Any]]

_FUEL = 2_000_000
_MOST_OUTPUT = 2_000_000
_LEAST_MAIN_TEXT = 200
_DROPPED = (
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "form",
    "button", "input", "select", "textarea",
)  # fmt: skip


def render(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Render a template with plain data; what is undefined is an error."""
    import minijinja

    html = payload["escape"] == "html"
    environment = minijinja.Environment(
        fuel=_FUEL,
        undefined_behavior="strict",
        debug=False,
        auto_escape_callback=lambda _: "html" if html else None,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.remove_global("debug")
    try:
        text = environment.render_str(payload["template"], **payload["data"])
    except minijinja.TemplateError as error:
        return {"error": str(error).partition("\n")[0].replace("<string>:", "line ")}
    if len(text) > _MOST_OUTPUT:
        return {"error": "the result is too long"}
    return {"text": text}


def to_markdown(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A page's title, text as Markdown, and links, with addresses made absolute."""
    from bs4 import BeautifulSoup

    page = cast("Any", BeautifulSoup(payload["html"], "html.parser"))
    base = _base(page, payload["url"])
    title = " ".join(page.title.get_text().split()) if page.title else ""
    for element in page(("title", *_DROPPED)):
        element.decompose()
    for anchor in page("a", href=True):
        _make_absolute(anchor, "href", base)
    for image in page("img", src=True):
        _make_absolute(image, "src", base)
    body = _main(page)
    links = [
        {"text": anchor.get_text(" ", strip=True)[:200], "url": anchor["href"]}
        for anchor in body("a", href=True)
    ]
    return {"title": title[:500], "text": _markdown(body), "links": links}


def _base(page: Any, url: str) -> str:
    declared = page.find("base", href=True)
    return _absolute(url, declared["href"]) if declared else url


def _make_absolute(element: Any, attribute: str, base: str) -> None:
    """Make an address absolute; one that is no web address goes, as of scripts and inline data."""
    address = _absolute(base, element[attribute])
    if address.startswith(("http://", "https://", "mailto:")):
        element[attribute] = address
    else:
        del element[attribute]


def _absolute(base: str, reference: str) -> str:
    from urllib.parse import urljoin, urlsplit

    try:
        return urlsplit(urljoin(base, reference.strip())).geturl()
    except ValueError:
        return ""


def _main(page: Any) -> Any:
    """The part that is the page's own, where the page says which it is."""
    for name in ("main", "article"):
        found = page.find_all(name)
        if len(found) == 1 and len(found[0].get_text(strip=True)) >= _LEAST_MAIN_TEXT:
            return found[0]
    return page.body or page


def _markdown(body: Any) -> str:
    import re

    from markdownify import MarkdownConverter

    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(body)
    except RecursionError:
        text = body.get_text("\n", strip=True)
    lines = (line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


_JOBS: Mapping[str, Job] = {"render": render, "to_markdown": to_markdown}


def main() -> None:
    """Read the import path and limits, take the limits on, read the job, answer."""
    start = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = start["path"]
    _limit(memory=start["memory"], seconds=start["seconds"])
    request = json.loads(sys.stdin.buffer.read())
    answer = _JOBS[request["job"]](request["payload"])
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _limit(*, memory: int, seconds: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()

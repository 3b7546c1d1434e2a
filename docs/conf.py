"""Settings of Sphinx, which makes the site of the documentation: `make site`."""

import re
import tomllib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.resolve()
_LINK = re.compile(
    r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])+)\]\((?P<target>[^()\s#]+)(?:#[^()\s]*)?\)"
)
_EXTERNAL = re.compile(
    r"""<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=["'](?:https?:)?//"""
    r"""|url\(["']?(?:https?:)?//|@import\b""",
    re.IGNORECASE,
)

project = "Pegboard"
author = "the maintainers of Pegboard"
release = version = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"][
    "version"
]
root_doc = "index"
extensions = ["myst_parser"]
exclude_patterns = ["AGENTS.md", "README.md", "decisions/template.md"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # what a block shows may be shortened with "..."
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "Pegboard"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def name_files_outside(app: object, page: str, source: list[str]) -> None:
    """Replace links to files of the repository that are no pages of the site by their text."""
    del app
    folder = (DOCS / page).parent

    def replace(link: re.Match[str]) -> str:
        target = link["target"]
        if "://" in target or target.startswith("mailto:"):
            return link[0]
        path = (folder / target).resolve()
        is_page = path.suffix == ".md" and path.is_relative_to(DOCS)
        if is_page and str(path.relative_to(DOCS)) not in exclude_patterns:
            return link[0]
        return link["text"]

    source[0] = _LINK.sub(replace, source[0])


def refuse_external_files(app: Any, error: Exception | None) -> None:
    """Fail where a page or a style loads a script, a style, a font or an image from elsewhere.

    Raises:
        RuntimeError: It does; names the file.
    """
    if error is not None:
        return
    for file in Path(app.outdir).rglob("*"):
        if file.suffix in {".html", ".css"} and (found := _EXTERNAL.search(file.read_text())):
            raise RuntimeError(f"{file.name} loads something from elsewhere: {found[0]}")


def setup(app: Any) -> None:
    """Connect the two checks above to Sphinx's events."""
    app.connect("source-read", name_files_outside)
    app.connect("build-finished", refuse_external_files)

"""The navigation of the site that `make site` builds."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.docs.pages import DOCS

CONF = runpy.run_path(str(DOCS / "conf.py"))
NOT_SHOWN = {"index", "README", "AGENTS", "decisions/template"}


def test_every_page_is_in_the_navigation_once() -> None:
    listed: list[str] = []
    for tree in re.findall(
        r"^:::\{toctree\}\n(.*?)^:::$", (DOCS / "index.md").read_text(), re.MULTILINE | re.DOTALL
    ):
        exact, globbed = list[str](), list[str]()
        for entry in re.findall(r"^[a-z][^:\n]*$", tree, re.MULTILINE):
            found = sorted(str(page.relative_to(DOCS))[:-3] for page in DOCS.glob(f"{entry}.md"))
            assert found, entry
            (globbed if "*" in entry else exact).extend(found)
        listed += exact + [page for page in globbed if page not in exact]
    pages = {str(page.relative_to(DOCS))[:-3] for page in DOCS.rglob("*.md")}

    assert sorted(listed) == sorted(pages - NOT_SHOWN)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script src="https://cdn.example/a.js"></script>'),
        ("a.html", "<link rel='stylesheet' href='//cdn.example/a.css'>"),
        ("a.css", '@import "fonts.css";'),
        ("a.css", "@font-face { src: url('https://fonts.example/a.woff2') }"),
    ],
    ids=["script", "style", "import", "font"],
)
def test_a_file_that_loads_something_from_elsewhere_is_refused(
    name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(RuntimeError, match=name):
        CONF["refuse_external_files"](SimpleNamespace(outdir=tmp_path), None)


def test_a_link_to_elsewhere_is_no_file_of_the_site(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://example.com/">more</a>')
    (tmp_path / "a.css").write_text("a { background: url(dot.png) }")

    CONF["refuse_external_files"](SimpleNamespace(outdir=tmp_path), None)

"""Links lead somewhere, and every page can be found from the index."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import DOCS, ROOT, generated_pages, pages

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ALL = [*pages(), *generated_pages()]


@pytest.mark.parametrize("page", _ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_finds_it(page: Path) -> None:
    assert [target for target in _targets(page) if not target.exists()] == []


def test_every_page_is_linked_from_an_index() -> None:
    linked = {target for page in _ALL for target in _targets(page)}
    alone = [page for page in DOCS.rglob("*.md") if page not in linked]

    assert alone == [DOCS / "README.md"] if DOCS / "README.md" not in linked else alone == []


def test_the_readme_links_every_page_beside_it() -> None:
    beside = {page for page in ROOT.glob("*.md") if page.name not in {"AGENTS.md", "README.md"}}

    assert beside - set(_targets(ROOT / "README.md")) == set()


def _targets(page: Path) -> Iterator[Path]:
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in link and not link.startswith(("#", "mailto:")):
            yield (page.parent / link.partition("#")[0]).resolve()

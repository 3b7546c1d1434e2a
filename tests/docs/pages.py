"""The pages of the documentation, cut into their fenced blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = DOCS / "reference"
_MARK = re.compile(r"<!--\s*([a-z ]+?)(?::\s*(.*?))?\s*-->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """One fenced block and the marks in the comment above it.

    Attributes:
        line: Of its first line in the page, from 1.
        language: The first word after the fence; empty when there is none.
        marks: `<!-- file: a.py -->` as `{"file": "a.py"}`.
    """

    page: Path
    line: int
    language: str
    body: str
    marks: dict[str, str]

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Everything that is written by hand: the README, the contributor's page and `docs/`."""
    written = [page for page in sorted(DOCS.rglob("*.md")) if GENERATED not in page.parents]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *written]


def generated_pages() -> list[Path]:
    """What `make docs` writes."""
    return sorted(GENERATED.rglob("*.md"))


def fences(page: Path) -> list[Fence]:
    """The blocks of a page, in order."""
    return list(_fences(page, page.read_text(encoding="utf-8")))


def fences_of(text: str, page: Path = ROOT / "text.md") -> list[Fence]:
    """The blocks of a text that stands for a page."""
    return list(_fences(page, text))


def _fences(page: Path, text: str) -> Iterator[Fence]:
    above: list[Token] = []
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            above.append(token)
        elif token.type == "fence" and token.map is not None:
            words = token.info.split()
            yield Fence(
                page=page,
                line=token.map[0] + 1,
                language=words[0] if words else "",
                body=token.content,
                marks=dict(_MARK.findall("".join(comment.content for comment in above))),
            )
            above.clear()
        else:
            above.clear()

"""What every picture is made of: text that cannot be markup, its width, and one style sheet."""

import base64
import hashlib
import unicodedata
from collections.abc import Iterable
from html import escape

FONT = 13.0
BOLD = FONT * 1.16
"""The size that a bold text counts as when it is measured."""

_NARROW = frozenset("ijl.,:;'|!()[]{}/\\ftrI`- ")
_BROAD = frozenset("mwMW@%")
_WIDE = frozenset({"W", "F"})

STYLE = """
svg { color-scheme: light dark; }
text { font: 13px system-ui, "Helvetica Neue", Arial, sans-serif; fill: #1c2733; }
.small { font-size: 11px; fill: #5a6775; }
.title { font-weight: 600; }
.label { stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; paint-order: stroke; }
.paper { fill: #ffffff; }
.box { fill: #f6f8fa; stroke: #aab4bf; }
.wait { fill: #fff8e6; }
.graph { stroke-width: 2; }
.arrow { fill: none; stroke: #7b8794; stroke-width: 1.25; }
.head { fill: #7b8794; }
.failing { stroke: #c4432b; stroke-dasharray: 5 3; }
.grid { stroke: #dfe4ea; }
.stripe { fill: #f6f8fa; }
.completed { fill: #d5efdc; stroke: #2e8b57; }
.failed { fill: #fadcd6; stroke: #c4432b; }
.in_progress, .ready { fill: #d8e8fb; stroke: #2f74c0; }
.waiting, .paused { fill: #fdeec2; stroke: #b58307; }
.unknown { fill: #ecdff7; stroke: #8047b3; }
.cancelled { fill: #e6e9ed; stroke: #6b7785; }
.skipped, .pending, .missing { fill: none; stroke: #aab4bf; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e9ef; }
  .small { fill: #9aa7b5; }
  .paper { fill: #11161c; }
  .label { stroke: #11161c; }
  .box { fill: #1c242d; stroke: #55616e; }
  .wait { fill: #332b16; }
  .arrow { stroke: #8391a0; }
  .failing { stroke: #e8745c; }
  .head { fill: #8391a0; }
  .grid { stroke: #2a333d; }
  .stripe { fill: #171e26; }
  .completed { fill: #173d28; stroke: #4fb37d; }
  .failed { fill: #4a2019; stroke: #e8745c; }
  .in_progress, .ready { fill: #173556; stroke: #64a3e8; }
  .waiting, .paused { fill: #443510; stroke: #d9a92c; }
  .unknown { fill: #36224a; stroke: #b083dc; }
  .cancelled { fill: #2a323b; stroke: #8a96a4; }
  .skipped, .pending, .missing { fill: none; stroke: #55616e; }
}
"""
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
STYLE_HASH = f"sha256-{_DIGEST}"
"""The style sheet's, for a Content-Security-Policy that allows this one alone."""


def document(parts: Iterable[str], *, width: float, height: float, title: str) -> str:
    """A whole SVG.

    Args:
        parts: Elements, escaped already.
        width: In pixels.
        height: In pixels.
        title: Its text alternative.
    """
    wide, high = number(width), number(height)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}"',
            f'viewBox="0 0 {wide} {high}" role="img">',
            f"<title>{plain(title)}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="paper" width="{wide}" height="{high}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, *, kind: str = "", anchor: str = "") -> str:
    """A line of text; `x` is where it begins, or what `anchor` says."""
    attributes = f' class="{kind}"' if kind else ""
    attributes += f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{number(x)}" y="{number(y)}"{attributes}>{plain(words)}</text>'


def tip(words: str) -> str:
    """The tooltip of an element."""
    return f"<title>{plain(words)}</title>"


def plain(words: str) -> str:
    """Text that is no markup, moves nothing, and is allowed in XML."""
    return escape("".join(char if char.isprintable() else " " for char in words))


def measure_text(words: str, *, size: float = FONT) -> float:
    """About how wide a text is, in pixels; rather more than less."""
    return size * sum(map(_share, words))


def truncate_text(words: str, room: float, *, size: float = FONT) -> str:
    """As much of a text as there is room for."""
    if measure_text(words, size=size) <= room:
        return words
    left = room - size
    for place, char in enumerate(words):
        left -= size * _share(char)
        if left < 0:
            return f"{words[:place].rstrip()}…"
    return words


def number(value: float) -> str:
    """A coordinate, no longer than it need be."""
    return f"{value:.1f}".removesuffix(".0")


def _share(char: str) -> float:
    if char in _NARROW:
        return 0.4
    if char in _BROAD or unicodedata.east_asian_width(char) in _WIDE:
        return 1.02
    if char.isupper():
        return 0.74
    return 0.0 if unicodedata.combining(char) else 0.63

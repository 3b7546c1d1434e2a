"""Which elements of a web page a reader does not see, by their attributes and plain styles."""

import re
from typing import Any

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"([^{}]{1,500})\{([^{}]{0,2000})\}")
_SELECTOR = re.compile(r"(?:[a-zA-Z][\w-]*)?([.#][\w-]+)$")
_MAX_STYLES = 500_000
_ZERO = r"0*(?:\.0+)?(?:px|pt|em|rem|%|vw|vh)?"
_WAYS = (
    (re.compile(r"display:none"), "A style keeps it from being shown."),
    (re.compile(r"visibility:(?:hidden|collapse)"), "A style keeps it from being shown."),
    (re.compile(rf"(?:^|;)opacity:{_ZERO}(?:;|!|$)"), "It is fully transparent."),
    (
        re.compile(rf"font-size:(?:{_ZERO}|[01](?:\.\d+)?p[xt])(?:;|!|$)"),
        "Its letters have no size.",
    ),
    (re.compile(r"color:transparent"), "Its letters are transparent."),
    (
        re.compile(r"(?:left|top|text-indent|margin-left|margin-top|right):-\d{4,}"),
        "It lies outside of the page.",
    ),
    (re.compile(r"clip:rect\(0[a-z]*,?0[a-z]*,?0[a-z]*,?0"), "It is cut to nothing."),
)
_INK = re.compile(r"(?:^|;)color:([^;!]{1,40})")
_PAPER = re.compile(r"background(?:-color)?:([^;!]{1,40})")
_WHITE = frozenset({"white", "#fff", "#ffffff", "rgb(255,255,255)", "rgba(255,255,255,1)"})


class HiddenElements:
    """Knows the styles of a page, as far as they name a class or an id and hide it.

    Args:
        styles: The text of its style sheets.
    """

    def __init__(self, styles: str) -> None:
        self._by_selector: dict[str, str] = {}
        for rule in _RULE.finditer(_COMMENT.sub("", styles[:_MAX_STYLES])):
            reason = explain_style(rule.group(2))
            if reason:
                for selector in rule.group(1).split(","):
                    named = _SELECTOR.fullmatch(selector.strip())
                    if named:
                        self._by_selector[named.group(1)] = reason

    def find_reason(self, element: Any) -> str:
        """Why a reader does not see an element; empty if they do."""
        attributes = element.attrs
        if not attributes:
            return ""
        if "hidden" in attributes:
            return "The page marks it as hidden."
        reason = explain_style(str(attributes.get("style") or ""))
        if reason or not self._by_selector:
            return reason
        names = [f".{name}" for name in attributes.get("class") or ()]
        if attributes.get("id"):
            names.append(f"#{attributes['id']}")
        return next((self._by_selector[name] for name in names if name in self._by_selector), "")


def explain_style(style: str) -> str:
    """How a style hides an element; empty if it does not."""
    if not style:
        return ""
    flat = re.sub(r"\s+", "", style[:5000]).lower()
    for way, reason in _WAYS:
        if way.search(flat):
            return reason
    ink, paper = _INK.search(flat), _PAPER.search(flat)
    if ink and _name_color(ink.group(1)) == (_name_color(paper.group(1)) if paper else "white"):
        return "Its letters have the colour of the page."
    return ""


def _name_color(color: str) -> str:
    return "white" if color in _WHITE else color

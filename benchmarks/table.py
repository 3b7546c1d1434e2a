"""Tables in Markdown: for the terminal and for the page that publishes them."""

from collections.abc import Sequence
from pathlib import Path

BEGIN = "<!-- figures: `make bench` writes everything from here to the end mark -->"
END = "<!-- end of figures -->"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column is text, the others are figures."""
    lines = [list(head), ["---", *["---:"] * (len(head) - 1)], *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(title: str, *parts: str) -> str:
    """A titled part of the report."""
    return "\n\n".join([f"### {title}", *[part for part in parts if part]])


def goal(what: str, value: float, most: float, *, unit: str = "") -> str:
    """One line that says whether a figure is within its goal."""
    answer = "yes" if value <= most else "**no**"
    return f"* {what}: {number(value)}{unit}, goal {number(most)}{unit}: {answer}"


def reach(what: str, value: float, least: float) -> str:
    """The same for a share that should be large."""
    answer = "yes" if value >= least else "**no**"
    return f"* {what}: {value:.3f}, goal at least {least:.3f}: {answer}"


def number(value: float) -> str:
    """Three digits are all that a shared machine can repeat."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def publish(page: Path, text: str) -> None:
    """Replace what stands between the marks of a page."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} has no marks for the figures")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")

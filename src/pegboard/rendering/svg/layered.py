"""Boxes and arrows in layers, as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pegboard.errors import InvalidRequest
from pegboard.rendering.svg.elements import (
    BOLD,
    document,
    measure_text,
    number,
    plain,
    text,
    tip,
    truncate_text,
)
from pegboard.rendering.svg.layout import Layout

MAX_BOXES = 1_000
_WIDEST = 260.0
_NARROWEST = 96.0
_PAD = 12.0
_MARGIN = 20.0
_GAP = 28.0
_STEP = 58.0
_SMALL = 11.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """One thing that is drawn.

    Attributes:
        kind: Classes of the style sheet.
        title: The first line.
        lines: What stands below it, smaller.
        tip: The tooltip.
        mark: A sign at the right of the title.
    """

    id: str
    title: str
    lines: tuple[str, ...] = ()
    kind: str = ""
    tip: str = ""
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """One thing that leads to another.

    Attributes:
        kind: Classes of the style sheet.
        label: What stands beside it.
    """

    first: str
    second: str
    label: str = ""
    kind: str = ""


def draw_layers(boxes: Sequence[Box], arrows: Sequence[Arrow], *, title: str) -> str:
    """A drawing in which every arrow leads down.

    Raises:
        InvalidRequest: There are too many boxes.
    """
    if len(boxes) > MAX_BOXES:
        raise InvalidRequest(
            f"A picture of {len(boxes)} boxes shows nothing: at most {MAX_BOXES} are drawn. Draw "
            "a part of it, or take the Mermaid text."
        )
    boxes = list({box.id: _fit_box(box) for box in boxes}.values())
    widths = {box.id: _width(box) for box in boxes}
    layout = Layout(widths, ((arrow.first, arrow.second) for arrow in arrows), gap=_GAP)
    by_id = {box.id: box for box in boxes}
    tops, bottoms = _rows(layout, by_id)
    heights = {box.id: _height(box) for box in boxes}
    parts = [
        *(part for arrow in arrows for part in _arrow(arrow, layout, tops, bottoms, heights)),
        *(
            part
            for layer, top in zip(layout.layers, tops, strict=True)
            for point in layer
            if isinstance(point, str)
            for part in _box(by_id[point], layout, top)
        ),
    ]
    heading = [text(_MARGIN, _MARGIN + 6, title, kind="title")] if title else []
    width = max(layout.width, measure_text(title, size=BOLD) if title else 0.0)
    return document(
        [_HEAD, *heading, *parts],
        width=width + 2 * _MARGIN,
        height=max(bottoms, default=_MARGIN + 24) + _MARGIN,
        title=title or "graph",
    )


_HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path class="head" d="M0 0.5 8 4 0 7.5z"/></marker></defs>'
)


def _fit_box(box: Box) -> Box:
    room = _WIDEST - 2 * _PAD
    mark = measure_text(box.mark) + 6 if box.mark else 0.0
    return replace(
        box,
        title=truncate_text(box.title, room - mark, size=BOLD),
        lines=tuple(truncate_text(line, room, size=_SMALL) for line in box.lines if line),
    )


def _width(box: Box) -> float:
    mark = measure_text(box.mark) + 6 if box.mark else 0.0
    lines = (measure_text(line, size=_SMALL) for line in box.lines)
    longest = [measure_text(box.title, size=BOLD) + mark, *lines]
    return max(_NARROWEST, max(longest) + 2 * _PAD)


def _height(box: Box) -> float:
    return 32.0 + 15.0 * len(box.lines)


def _rows(layout: Layout, boxes: dict[str, Box]) -> tuple[list[float], list[float]]:
    """Where each layer begins and ends."""
    tops: list[float] = []
    bottoms: list[float] = []
    at = _MARGIN + 24
    for layer in layout.layers:
        known = (boxes[point] for point in layer if isinstance(point, str))
        tops.append(at)
        bottoms.append(at + max(map(_height, known), default=0.0))
        at = bottoms[-1] + _STEP
    return tops, bottoms


def _box(box: Box, layout: Layout, top: float) -> Iterator[str]:
    left, width = layout.left[box.id] + _MARGIN, layout.width_of(box.id)
    yield f"<g>{tip(box.tip)}" if box.tip else "<g>"
    yield (
        f'<rect class="box {plain(box.kind)}" x="{number(left)}" y="{number(top)}" '
        f'width="{number(width)}" height="{number(_height(box))}" rx="7"/>'
    )
    yield text(left + _PAD, top + 21, box.title, kind="title")
    if box.mark:
        yield text(left + width - _PAD, top + 21, box.mark, anchor="end")
    for place, line in enumerate(box.lines):
        yield text(left + _PAD, top + 38 + 15 * place, line, kind="small")
    yield "</g>"


def _arrow(
    arrow: Arrow,
    layout: Layout,
    tops: Sequence[float],
    bottoms: Sequence[float],
    heights: Mapping[str, float],
) -> Iterator[str]:
    chain = layout.chains.get((arrow.first, arrow.second))
    if chain is None:
        return
    first = layout.depth_of[chain[0]]
    x, y = layout.middle(chain[0]) + _MARGIN, bottoms[first]
    path = f"M{number(x)} {number(tops[first] + heights[arrow.first])} V{number(y)}"
    for point in chain[1:]:
        depth = layout.depth_of[point]
        to_x, to_y = layout.middle(point) + _MARGIN, tops[depth]
        half = (y + to_y) / 2
        path += f" C{number(x)} {number(half)} {number(to_x)} {number(half)}"
        path += f" {number(to_x)} {number(to_y)}"
        x, y = to_x, to_y
        if point != chain[-1]:  # through the layer, past its boxes
            y = bottoms[depth]
            path += f" L{number(x)} {number(y)}"
    yield f'<path class="arrow {plain(arrow.kind)}" d="{path}" marker-end="url(#head)"/>'
    if arrow.label:
        at = (layout.middle(chain[-2]) + layout.middle(chain[-1])) / 2 + _MARGIN
        label = truncate_text(arrow.label, 200, size=_SMALL)
        height = tops[layout.depth_of[chain[-1]]] - _STEP / 2 + 4
        yield f"<g>{tip(arrow.label)}{text(at + 6, height, label, kind='small label')}</g>"

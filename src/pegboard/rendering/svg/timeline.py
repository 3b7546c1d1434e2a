"""A run on a time line, as SVG: one bar for each node and each part of one."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

from pegboard.core.run import NodeRun, RunResult
from pegboard.rendering.svg.elements import document, measure_text, number, text, tip, truncate_text
from pegboard.rendering.svg.flow_chart import GOING_ON, took
from pegboard.rendering.text import MARKS

MOST_ROWS = 1_000
_ROW = 24.0
_MARGIN = 20.0
_TOP = 66.0
_WIDEST_NAME = 280.0
_PLOT = 620.0
_AFTER = 110.0
_INDENT = 14.0
_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    run: NodeRun
    depth: int


def timeline(result: RunResult, *, title: str = "") -> str:
    """Each bar begins and ends when its node did, in the colour of its state."""
    everything = [row for node in result.nodes for row in _rows(node, 0)]
    rows = everything[:MOST_ROWS]
    begun = [row.run.started_at for row in everything if row.run.started_at]
    first = min(begun, default=result.started_at)
    last = max([first, *(_end(row.run, result) for row in everything if row.run.started_at)])
    span = max((last - first) * 1000, 1.0)
    names = max((_name_width(row) for row in rows), default=0.0)
    left = _MARGIN + min(names, _WIDEST_NAME) + 18
    height = _TOP + _ROW * len(rows)
    said = f"{title or result.graph or result.run_id}: {result.state.value}"
    parts = [
        text(_MARGIN, _MARGIN + 6, said, kind="title"),
        text(_MARGIN, _MARGIN + 24, f"{result.run_id}, {took(result.duration_ms)}", kind="small"),
        *(part for place, row in enumerate(rows) for part in _stripe(place, row, left)),
        *_axis(left, span, height),
        *(
            part
            for place, row in enumerate(rows)
            for part in _bar(place, row.run, result, left=left, first=first, span=span)
        ),
    ]
    if len(everything) > len(rows):
        height += _ROW
        more = f"and {len(everything) - len(rows)} more"
        parts.append(text(_MARGIN, height - 8, more, kind="small"))
    return document(
        parts, width=left + _PLOT + _AFTER + _MARGIN, height=height + _MARGIN, title=said
    )


def _rows(run: NodeRun, depth: int) -> Iterator[_Row]:
    yield _Row(run=run, depth=depth)
    for part in run.parts:
        yield from _rows(part, depth + 1)


def _end(run: NodeRun, result: RunResult) -> float:
    end = run.started_at + run.duration_ms / 1000
    if run.state in GOING_ON:
        end = max(end, result.started_at + result.duration_ms / 1000)
    return end


def _name_width(row: _Row) -> float:
    return measure_text(row.run.id) + _INDENT * min(row.depth, _DEEPEST) + 24


def _stripe(place: int, row: _Row, left: float) -> Iterator[str]:
    y = _TOP + _ROW * place
    if place % 2 == 0:
        width = left - _MARGIN + _PLOT + _AFTER
        yield (
            f'<rect class="stripe" x="{number(_MARGIN - 6)}" y="{number(y)}" '
            f'width="{number(width + 12)}" height="{number(_ROW)}" rx="4"/>'
        )
    indent = min(row.depth, _DEEPEST) * _INDENT
    room = left - _MARGIN - 38 - indent
    name = truncate_text(row.run.id, room)
    yield text(_MARGIN, y + 16, MARKS.get(row.run.state, " "))
    shown = text(_MARGIN + 20 + indent, y + 16, name)
    yield f"<g>{tip(row.run.id)}{shown}</g>"


def _axis(left: float, span: float, bottom: float) -> Iterator[str]:
    step = _step(span)
    for count in range(floor(span / step) + 1):
        x = left + count * step / span * _PLOT
        yield (
            f'<line class="grid" x1="{number(x)}" y1="{number(_TOP - 6)}" x2="{number(x)}" '
            f'y2="{number(bottom)}"/>'
        )
        label = took(count * step) if count else "0"
        yield text(x, _TOP - 12, label, kind="small", anchor="middle")


def _step(span: float) -> float:
    """A round number of milliseconds that stands four to ten times in a span."""
    rough = span / 8
    power = 10.0 ** floor(log10(rough))
    return max(power * next(n for n in (1, 2, 5, 10) if ceil(rough / power) <= n), 1.0)


def _bar(
    place: int, run: NodeRun, result: RunResult, *, left: float, first: float, span: float
) -> Iterator[str]:
    y = _TOP + _ROW * place
    if not run.started_at:
        said = truncate_text(run.reason or run.state.value, _PLOT, size=11)
        yield text(left, y + 16, said, kind="small")
        return
    scale = _PLOT / span
    begin = left + max(run.started_at - first, 0.0) * 1000 * scale
    width = max((_end(run, result) - run.started_at) * 1000 * scale, 3.0)
    error = (run.error or {}).get("message", "")
    said = ": ".join(part for part in (run.id, run.tool, str(error) or run.reason) if part)
    yield f"<g>{tip(said)}"
    yield (
        f'<rect class="{run.state.value}" x="{number(begin)}" y="{number(y + 5)}" '
        f'width="{number(width)}" height="{number(_ROW - 10)}" rx="3"/></g>'
    )
    attempts = f", {run.attempts} attempts" if run.attempts > 1 else ""
    words = run.state.value if run.state in GOING_ON else took(run.duration_ms)
    words += attempts
    room = left + _PLOT + _AFTER - begin - width
    is_after = measure_text(words, size=11) + 8 <= room
    at = begin + width + 6 if is_after else begin - 6
    yield text(at, y + 16, words, kind="small", anchor="" if is_after else "end")

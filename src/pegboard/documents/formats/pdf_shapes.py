"""The shapes of a page of a PDF: what lies behind white letters, and what is drawn over text."""

import ctypes
from typing import Any

WHITE = 240
"""From this value of each colour on, of 255, letters are not seen on paper."""
_BLACK = 20
_OPAQUE = 250
_MAX_SHAPES = 1000
_LEAST_SIDE = 4.0

Bounds = tuple[float, float, float, float]


class PdfShapes:
    """Knows the filled shapes and the pictures of a page, and where its text is among them.

    Args:
        page: Of pypdfium2.
    """

    def __init__(self, page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium: Any = pdfium
        self._grounds: list[Bounds] = []
        covers: list[tuple[int, Bounds]] = []
        texts: list[tuple[int, Bounds]] = []
        for number, thing in enumerate(page.get_objects(max_depth=2)):
            if thing.type == pdfium.FPDF_PAGEOBJ_TEXT:
                if len(texts) < _MAX_SHAPES:
                    texts.append((number, thing.get_bounds()))
            elif len(self._grounds) + len(covers) < _MAX_SHAPES:
                self._add(number, thing, covers)
        self._covered = [
            text
            for number, text in texts
            if any(number < later and _is_inside(text, cover) for later, cover in covers)
        ]

    def _add(self, number: int, thing: Any, covers: list[tuple[int, Bounds]]) -> None:
        pdfium = self._pdfium
        if thing.type in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING):
            self._grounds.append(thing.get_bounds())
            return
        if thing.type != pdfium.FPDF_PAGEOBJ_PATH:
            return
        mode, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(thing.raw, ctypes.byref(mode), ctypes.byref(stroke))
        if not mode.value:
            return
        colors = [ctypes.c_uint() for _ in range(4)]
        pdfium.FPDFPageObj_GetFillColor(thing.raw, *map(ctypes.byref, colors))
        values = [color.value for color in colors[:3]]
        left, bottom, right, top = bounds = thing.get_bounds()
        if right - left < _LEAST_SIDE or top - bottom < _LEAST_SIDE:
            return
        if min(values) < WHITE:
            self._grounds.append(bounds)
        # other colours may be those of a marker, through which text is seen
        is_plain = min(values) >= WHITE or max(values) <= _BLACK
        if is_plain and colors[3].value >= _OPAQUE:
            covers.append((number, bounds))

    def is_ground(self, x: float, y: float) -> bool:
        """Whether something is filled or drawn at a place, on which white letters are seen."""
        return any(
            left <= x <= right and bottom <= y <= top for left, bottom, right, top in self._grounds
        )

    def explain_cover(self, left: float, bottom: float, right: float, top: float) -> str:
        """Whether a word belongs to text that a shape was drawn over; empty if it does not."""
        x, y = (left + right) / 2, (bottom + top) / 2
        for covered in self._covered:
            if covered[0] - 1 <= x <= covered[2] + 1 and covered[1] - 2 <= y <= covered[3] + 2:
                return "Something is drawn over it."
        return ""


def _is_inside(text: Bounds, cover: Bounds) -> bool:
    return (
        cover[0] <= text[0] + 1
        and cover[1] <= text[1] + 1
        and cover[2] >= text[2] - 1
        and cover[3] >= text[3] - 1
    )

"""The lines of a page of a PDF: words with their places, sizes and weights, and what is hidden."""

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pegboard.documents.formats.markdown_text import Run

_SOFT_HYPHENS = "\u00ad\x02\ufffe"
_INVISIBLE_MODE = 3  # ISO 32000-1, 9.3.6
_LEAST_HEIGHT = 1.5
_WHITE = 250
_BOLD = 600


@dataclass(slots=True)
class PdfWord:
    """A word, and where it stands: points from the lower left corner of the page."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    height: float
    bold: bool
    hidden: str = ""


@dataclass(slots=True)
class PdfLine:
    """A line of words, left to right as the file has them.

    Attributes:
        height: The usual height of its letters, of the longest share.
        bold: Whether all of it is bold.
    """

    words: list[PdfWord] = field(default_factory=list[PdfWord])
    height: float = 0.0
    bold: bool = False
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join(word.text for word in self.words)

    @property
    def runs(self) -> list[Run]:
        """Its text with what is hidden; the first word stands alone."""
        runs = [Run(self.words[0].text, self.words[0].hidden)]
        hidden, texts = runs[0].hidden, list[str]()
        for word in self.words[1:]:
            if word.hidden != hidden and texts:
                runs += [Run(" "), Run(" ".join(texts), hidden)]
                texts = []
            hidden = word.hidden
            texts.append(word.text)
        if texts:
            runs += [Run(" "), Run(" ".join(texts), hidden)]
        return runs

    def measure(self) -> None:
        """Measure the line, when all of its words are there."""
        counts: Counter[float] = Counter()
        for word in self.words:
            counts[round(word.height * 2) / 2] += len(word.text)
        self.height = counts.most_common(1)[0][0]
        self.bold = all(word.bold for word in self.words)
        self.left = min(word.left for word in self.words)
        self.right = max(word.right for word in self.words)
        self.bottom = min(word.bottom for word in self.words)
        self.top = max(word.top for word in self.words)


@dataclass(slots=True)
class _Style:
    """What the letters of a text object have in common."""

    bottom: float
    top: float
    height: float
    bold: bool
    hidden: str


class PdfPageText:
    """Reads the lines of one page.

    Args:
        page: Of pypdfium2.
        text_page: Its text.
    """

    def __init__(self, page: Any, text_page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium: Any = pdfium
        self._text = text_page.raw
        self._count = text_page.count_chars()
        self._box = page.get_cropbox()
        self._numbers = [ctypes.c_double() for _ in range(4)]
        self._references = [ctypes.byref(number) for number in self._numbers]
        self._rectangle: Any = pdfium.FS_RECTF()
        self._styles: dict[int, _Style] = {}
        self._has_dark_ground = _has_ground(page, pdfium)
        self.hidden_letters = 0
        self.letters = 0

    def read(self) -> list[PdfLine]:
        """The lines, in the order of the file."""
        get_unicode = self._pdfium.FPDFText_GetUnicode
        lines: list[PdfLine] = []
        line = PdfLine()
        start, letters = 0, ""
        joins = False
        for at in range(self._count):
            code = get_unicode(self._text, at)
            letter = chr(code) if code and not 0xD800 <= code <= 0xDFFF else ""
            if letter and letter in _SOFT_HYPHENS:
                joins = True  # a word goes on in the next line
                continue
            if letter in "\r\n":
                if joins:
                    continue
                self._end_word(line, letters, start, at)
                letters = ""
                if line.words:
                    line.measure()
                    lines.append(line)
                    line = PdfLine()
            elif not letter or letter.isspace():
                self._end_word(line, letters, start, at)
                letters, joins = "", False
            else:
                joins = False
                if not letters:
                    start = at
                letters += letter
        self._end_word(line, letters, start, self._count)
        if line.words:
            line.measure()
            lines.append(line)
        return lines

    def _end_word(self, line: PdfLine, letters: str, start: int, end: int) -> None:
        if not letters:
            return
        left, right = self._sides_of(start)
        if end - start > 1:
            _, right = self._sides_of(end - 1)
        if left > right:
            left, right = right, left
        style = self._find_style(start)
        hidden = style.hidden or self._explain_place(left, style.bottom, right, style.top)
        self.letters += len(letters)
        self.hidden_letters += len(letters) if hidden else 0
        line.words.append(
            PdfWord(letters, left, style.bottom, right, style.top, style.height, style.bold, hidden)
        )

    def _find_style(self, at: int) -> _Style:
        """What the letters of one text object have in common; a line is one or several."""
        pdfium = self._pdfium
        thing = pdfium.FPDFText_GetTextObject(self._text, at)
        key = ctypes.addressof(thing.contents) if thing else -at - 1
        style = self._styles.get(key)
        if style is None:
            pdfium.FPDFText_GetLooseCharBox(self._text, at, self._rectangle)
            bottom, top = sorted((self._rectangle.bottom, self._rectangle.top))
            is_bold = pdfium.FPDFText_GetFontWeight(self._text, at) >= _BOLD or self._is_bold(at)
            hidden = (
                "Its letters are too small to see."
                if top - bottom < _LEAST_HEIGHT
                else self._explain_object(thing, at)
            )
            style = self._styles[key] = _Style(bottom, top, top - bottom, is_bold, hidden)
        return style

    def _sides_of(self, at: int) -> tuple[float, float]:
        self._pdfium.FPDFText_GetCharBox(self._text, at, *self._references)
        return self._numbers[0].value, self._numbers[1].value

    def _is_bold(self, at: int) -> bool:
        """Whether the name of its font says so: fonts without a file have no weight."""
        name = ctypes.create_string_buffer(64)
        flags = ctypes.c_int()
        self._pdfium.FPDFText_GetFontInfo(self._text, at, name, 64, ctypes.byref(flags))
        lowered = name.value.lower()
        return b"bold" in lowered or b"black" in lowered

    def _explain_place(self, left: float, bottom: float, right: float, top: float) -> str:
        page_left, page_bottom, page_right, page_top = self._box
        if right < page_left or left > page_right or top < page_bottom or bottom > page_top:
            return "It lies outside of the page."
        return ""

    def _explain_object(self, thing: Any, at: int) -> str:
        pdfium = self._pdfium
        if thing and pdfium.FPDFTextObj_GetTextRenderMode(thing) == _INVISIBLE_MODE:
            return "It is drawn invisibly."
        colors = [ctypes.c_uint() for _ in range(4)]
        if not pdfium.FPDFText_GetFillColor(self._text, at, *map(ctypes.byref, colors)):
            return ""
        red, green, blue, alpha = (color.value for color in colors)
        if alpha < 10:
            return "It is fully transparent."
        if min(red, green, blue) >= _WHITE and not self._has_dark_ground:
            return "Its letters have the colour of the page."
        return ""


def _has_ground(page: Any, pdfium: Any) -> bool:
    """Whether something is filled or drawn behind the text, on which white letters are seen."""
    wanted = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING, pdfium.FPDF_PAGEOBJ_PATH)
    colors = [ctypes.c_uint() for _ in range(4)]
    for thing in page.get_objects(filter=wanted, max_depth=3):
        if thing.type != pdfium.FPDF_PAGEOBJ_PATH:
            return True
        mode, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(thing.raw, ctypes.byref(mode), ctypes.byref(stroke))
        pdfium.FPDFPageObj_GetFillColor(thing.raw, *map(ctypes.byref, colors))
        if mode.value and min(color.value for color in colors[:3]) < _WHITE:
            return True
    return False

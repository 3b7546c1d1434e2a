"""Documents are cut into pieces that fit, each at its place."""

import asyncio
from collections.abc import Sequence

import pytest

from pegboard.core.knowledge import ConvertedDocument, PageSpan, Piece, TextBlock
from pegboard.core.text.measure import measure_text
from pegboard.errors import InvalidRequest
from pegboard.knowledge.cut import CutSettings, cut
from pegboard.knowledge.cut.fixed import pack_fixed
from pegboard.knowledge.cut.pack import pack_headings, pack_recursive
from pegboard.knowledge.cut.semantic import pack_semantic
from pegboard.knowledge.cut.settings import CutMethod
from pegboard.knowledge.cut.spans import cut_length, find_spans, split_sentences


def _document(*pages: list[tuple[str, str]]) -> ConvertedDocument:
    """A document of pages of blocks, each a kind and its text."""
    text, blocks, spans = "", list[TextBlock](), list[PageSpan]()
    for number, page in enumerate(pages, 1):
        text += "\n\n" if text else ""
        start = len(text)
        for at, (kind, content) in enumerate(page):
            text += "\n\n" if at else ""
            level = len(content) - len(content.lstrip("#"))
            blocks.append(TextBlock(kind, len(text), len(text) + len(content), level))  # type: ignore[arg-type]  # of the test
            text += content
        spans.append(PageSpan(number, start, len(text)))
    return ConvertedDocument(
        text=text, media_type="text/plain", blocks=tuple(blocks), pages=tuple(spans)
    )


_RETURNS = "Goods come back within thirty days. " * 12
_TABLE = "| Item | Price |\n| --- | --- |\n" + "\n".join(
    f"| item number {number} | {number} |" for number in range(60)
)
_HANDBOOK = _document(
    [
        ("heading", "# Handbook"),
        ("heading", "## Returns"),
        ("paragraph", _RETURNS.strip()),
        ("heading", "## Code"),
        ("code", "```\n" + "line = 1\n" * 30 + "```"),
    ],
    [
        ("heading", "## Prices"),
        ("table", _TABLE),
        ("paragraph", "日本の返品は三十日以内です。" * 40),
    ],
)


async def _cut(document: ConvertedDocument, method: CutMethod, **sizes: int) -> list[Piece]:
    return await cut(document, CutSettings(method=method, **sizes), id="d1", base="b1")


@pytest.mark.parametrize("method", ["recursive", "heading", "fixed"])
async def test_pieces_fit_stand_where_they_say_and_leave_nothing_out(method: CutMethod) -> None:
    pieces = await _cut(_HANDBOOK, method, tokens=100)

    assert all(_HANDBOOK.text[piece.start : piece.end] == piece.text for piece in pieces)
    assert all(measure_text(piece.text) <= 200 for piece in pieces)
    assert [piece.number for piece in pieces] == list(range(1, len(pieces) + 1))
    assert len({piece.id for piece in pieces}) == len(pieces)
    covered = {at for piece in pieces for at in range(piece.start, piece.end)}
    left = [letter for at, letter in enumerate(_HANDBOOK.text) if at not in covered]
    assert not "".join(left).strip()


@pytest.mark.parametrize("method", ["recursive", "heading", "fixed"])
async def test_a_piece_stands_on_one_page(method: CutMethod) -> None:
    pieces = await _cut(_HANDBOOK, method, tokens=2000)

    assert [piece.page for piece in pieces] == sorted(piece.page for piece in pieces)
    for piece in pieces:
        page = _HANDBOOK.pages[piece.page - 1]
        assert page.start <= piece.start < piece.end <= page.end


@pytest.mark.parametrize("method", ["recursive", "heading", "semantic"])
@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param(
            [("heading", f"# Section {number} of many") for number in range(300)], id="all"
        ),
        pytest.param([("heading", "# " + "word " * 3000)], id="one without an end"),
        pytest.param(
            [("heading", f"# Section {number}") for number in range(300)]
            + [("paragraph", "Goods come back. " * 40)],
            id="many above a text",
        ),
    ],
)
async def test_headings_without_a_text_below_them_are_parted_too(
    method: CutMethod, blocks: list[tuple[str, str]]
) -> None:
    document = _document(blocks)
    pieces = await cut(
        document,
        CutSettings(method=method, tokens=100),
        id="d1",
        base="b1",
        embedder=_ByTopic(),
    )

    assert max(measure_text(piece.text) for piece in pieces) <= 200
    covered = {at for piece in pieces for at in range(piece.start, piece.end)}
    assert not "".join(at for i, at in enumerate(document.text) if i not in covered).strip()


async def test_a_piece_knows_the_headings_above_it() -> None:
    pieces = await _cut(_HANDBOOK, "heading", tokens=400)

    assert [piece.heading for piece in pieces[:2]] == ["Handbook > Returns", "Handbook > Code"]


async def test_other_work_goes_on_while_a_text_is_cut() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await cut(_HANDBOOK, CutSettings(), id="d", base="b")
    counting.cancel()

    assert turns > 0


async def test_a_table_that_goes_on_names_its_columns() -> None:
    pieces = await _cut(_HANDBOOK, "recursive", tokens=100)

    rows = [piece for piece in pieces if "item number 50" in piece.text]
    assert [piece.heading for piece in rows] == ["Handbook > Prices > Item, Price"]
    assert all(row.startswith("|") and row.endswith("|") for row in rows[0].text.split("\n"))


async def test_a_change_on_one_page_leaves_the_pieces_of_the_others_as_they_are() -> None:
    before = _document([("paragraph", "One. " * 60)], [("paragraph", "Two. " * 60)])
    after = _document([("paragraph", "Other. " * 70)], [("paragraph", "Two. " * 60)])

    first, second = await _cut(before, "recursive"), await _cut(after, "recursive")

    ids = [{piece.id for piece in pieces if piece.page == 2} for pieces in (first, second)]
    assert ids[0] == ids[1]
    assert {piece.id for piece in first} & {piece.id for piece in second} == ids[0]


async def test_the_same_text_twice_has_two_ids() -> None:
    document = _document([("paragraph", "Same. " * 60), ("paragraph", "Same. " * 60)])

    pieces = await _cut(document, "recursive", tokens=130)

    assert len(pieces) == len({piece.id for piece in pieces}) == 2


async def test_a_fixed_piece_begins_with_the_end_of_the_one_before_it() -> None:
    document = _document([("paragraph", " ".join(f"word{number}" for number in range(300)))])

    pieces = await _cut(document, "fixed", tokens=100, overlap=20)

    assert pieces[1].start < pieces[0].end
    assert pieces[1].end > pieces[0].end


class _ByTopic:
    """Texts that speak of tools lie in one direction, all others in another."""

    name = "test:topic"

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        return [[1.0, 0.0] if "tool" in text else [0.0, 1.0] for text in texts]


async def test_a_semantic_piece_ends_where_the_meaning_changes() -> None:
    text = "A tool is lent for a day. " * 8 + "Bread is baked at dawn. " * 8
    document = _document([("paragraph", text.strip())])

    groups = await pack_semantic(document.text, find_spans(document), 220, _ByTopic())
    pieces = await cut(
        document, CutSettings(method="semantic"), id="d1", base="b1", embedder=_ByTopic()
    )

    assert [(group[0].start, group[-1].end) for group in groups] == [
        (piece.start, piece.end) for piece in pieces
    ]
    assert [piece.text.split()[0] for piece in pieces] == ["A", "Bread"]


async def test_semantic_needs_a_model_and_sizes_must_make_sense() -> None:
    with pytest.raises(InvalidRequest, match="embedding model"):
        await _cut(_HANDBOOK, "semantic")
    with pytest.raises(InvalidRequest, match="tokens"):
        await _cut(_HANDBOOK, "fixed", tokens=100, overlap=90)


async def test_a_word_without_an_end_and_a_text_without_blocks_are_cut() -> None:
    document = ConvertedDocument(text="x" * 5000 + "\n\nend", media_type="text/plain")

    pieces = await _cut(document, "recursive", tokens=100)

    assert len(pieces) > 10
    assert pieces[-1].text.endswith("end")


def test_a_small_section_goes_on_into_the_next_one_and_a_heading_is_never_last() -> None:
    document = _document(
        [
            ("heading", "# A"),
            ("paragraph", "Short."),
            ("heading", "# B"),
            ("paragraph", "Long text. " * 60),
            ("heading", "# C"),
            ("paragraph", "End."),
        ]
    )
    spans = find_spans(document)

    packed = pack_recursive(document.text, spans, 120)
    sections = pack_headings(document.text, spans, 1000)

    assert [span.heading for span in packed[0]][::3] == [("A",)]
    assert all(group[-1].kind != "heading" for group in packed)
    assert [group[0].heading for group in sections] == [("A",), ("B",), ("C",)]


def test_a_fixed_piece_ends_at_a_word() -> None:
    document = _document([("paragraph", "seven letters " * 40)])

    groups = pack_fixed(document.text, find_spans(document), 30, 0)

    assert all(
        document.text[group[0].start : group[-1].end].split()[-1] in ("seven", "letters")
        for group in groups
    )


def test_sentences_end_at_the_marks_of_several_languages() -> None:
    document = _document([("paragraph", 'He said: "Go." Did he? 返品する。三十日。 No')])

    parts = split_sentences(document.text, find_spans(document)[0])

    assert [document.text[part.start : part.end] for part in parts] == [
        'He said: "Go."', "Did he?", "返品する。", "三十日。", "No",
    ]  # fmt: skip


def test_as_many_letters_are_cut_as_fit_whatever_their_size() -> None:
    assert measure_text("a" * cut_length("a" * 500, 100)) <= 100
    assert measure_text("返" * cut_length("返" * 500, 100)) <= 100
    assert cut_length("返", 1) == 1

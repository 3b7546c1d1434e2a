import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.knowledge.grounding.made import make_hit

from pegboard.core.knowledge import BaseLook, Hit, Retrieval
from pegboard.knowledge.grounding.alignment import align
from pegboard.knowledge.grounding.citations import QuotedSpan, quote_of
from pegboard.knowledge.grounding.confidence import covers, describe_looks, measure_confidence
from pegboard.knowledge.grounding.evidence_retriever import retrieve_evidence
from pegboard.knowledge.grounding.facts import find_facts
from pegboard.knowledge.grounding.negation import are_opposite, count_negations, find_opposite
from pegboard.knowledge.grounding.patterns import any_of
from pegboard.knowledge.grounding.question import holds_answer, read_question
from pegboard.knowledge.grounding.sentence_conflicts import compare_sentences, read_sentence
from pegboard.knowledge.grounding.spans import MAX_SPAN, TextSpan, split_spans
from pegboard.knowledge.grounding.stance import find_stance
from pegboard.knowledge.grounding.words import find_words, guess_language, list_stems, stem


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Who signs for a delivery?", ["person"]),
        ("When did the shop open?", ["date"]),
        ("How many records fit in a box?", ["number"]),
        ("How long may a customer bring a record back?", ["duration"]),
        ("What is the price of a double LP?", ["money"]),
        ("Where are the sleeves?", ["place"]),
        ("Why is a record played?", ["reason"]),
        ("Do we buy used CDs from people under 18?", ["polarity"]),
        ("When a record is scratched, what do we pay?", ["text"]),
        ("What do we pay for a double LP, and who signs for it?", ["text", "person"]),
        ("Wie lange kann man zurückgeben?", ["duration"]),
        ("Wer unterschreibt die Lieferung, und wann kommt sie?", ["person", "date"]),
        ("Darf ein Kunde rauchen?", ["polarity"]),
        ("Was kostet eine Doppel-LP?", ["money"]),
        ("客户多久可以退货？", ["duration"]),
        ("谁签收？什么时候？", ["person", "date"]),
        ("可以退货吗？", ["polarity"]),
        ("", ["text"]),
    ],
)
def test_a_question_has_parts_that_ask_for_a_kind_of_answer(
    question: str, kinds: list[str]
) -> None:
    assert [part.kind for part in read_question(question)] == kinds


@pytest.mark.parametrize(
    ("question", "text", "holds"),
    [
        ("Who signs for a delivery?", "Helena Marsh signs for it.", True),
        ("Who signs for a delivery?", "A delivery is signed for at once.", False),
        ("Who pays the postage?", "The customer pays the postage.", True),
        ("Who pays the postage?", "The postage is paid by the customer.", True),
        ("When does the archive close?", "The archive closes at seven.", True),
        ("When does the archive close?", "The archive closes at half past six on Fridays.", True),
        ("When does the archive close?", "Seven o'clock.", True),
        ("Wann schließt das Archiv?", "Das Archiv schließt um sieben Uhr.", True),
        ("When does the archive close?", "The archive closes at seven places.", False),
        ("When does the archive close?", "One of the archives closes at one of them.", False),
        ("How often do they come?", "They come on Tuesdays and Fridays.", True),
        ("How often do they come?", "They come with 12 boxes.", False),
        ("When did it open?", "It opened in 2019.", True),
        ("When did it open?", "It opened with music.", False),
        ("When are invoices due?", "Invoices are due within 21 days.", True),
        ("How long may it last?", "It lasts 30 days.", True),
        ("How long may it last?", "It has 30 pages.", False),
        ("How many of the 30 days are free?", "Of the 30 days some are free.", False),
        ("Why is it so?", "It is so because of the law.", True),
    ],
)
def test_a_text_holds_the_kind_of_answer_or_not(question: str, text: str, holds: bool) -> None:
    assert holds_answer(read_question(question)[0], text) is holds


def test_a_span_without_the_kind_of_answer_is_aligned_less() -> None:
    (part,) = read_question("Who signs for a delivery?")
    (right,) = split_spans("Helena Marsh signs for each delivery.")
    (wrong,) = split_spans("One signs for each delivery at the back door.")

    assert align(part, right) == 1.0
    assert align(part, wrong) < 0.5


def test_a_part_of_a_question_needs_a_word_of_its_own() -> None:
    first, second = read_question("How often does Fairmont deliver, and when are invoices due?")
    (span,) = split_spans("Fairmont delivers on Tuesdays.")

    assert align(first, span) > 0.9
    assert align(second, span) == 0.0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200.50 EUR", ["1200.5"]),
        ("1.200,50 €", ["1200.5"]),
        ("€1200.5", ["1200.5"]),
        ("five million people", ["5000000"]),
        ("5 Mio. Menschen", ["5000000"]),
        ("三十天", ["30"]),
        ("2万元", ["20000"]),
        ("on 3 March 2019", ["2019-3-3"]),
        ("am 3. März 2019", ["2019-3-3"]),
        ("on March 3rd, 2019", ["2019-3-3"]),
        ("2019年3月3日", ["2019-3-3"]),
        ("at 5 pm", ["clock 17:00"]),
        ("the model gpt-4o", ["gpt-4o"]),
        ("by Helena Marsh", ["helena marsh"]),
    ],
)
def test_facts_have_one_value_in_each_form(text: str, values: list[str]) -> None:
    assert [value for fact in find_facts(text) for value in sorted(fact.values)] == values


def test_sentences_rows_and_items_are_spans_and_headings_are_no_part_of_them() -> None:
    text = (
        "# Returns\n\nDr. Marsh signs, e.g. for records\nthat come back. Who else? Nobody.\n\n"
        "- first item\n- second item\n\n| a | b |\n|---|---|\n| x | 12 |\n\n"
        "客户可以退货。三十天内。\n"
    )

    spans = split_spans(text)

    assert [span.text for span in spans] == [
        "# Returns",
        "Dr. Marsh signs, e.g. for records\nthat come back.",
        "Who else?",
        "Nobody.",
        "first item",
        "second item",
        "| a | b |",
        "| x | 12 |",
        "客户可以退货。",
        "三十天内。",
    ]
    assert spans[7].context == "| a | b |"
    assert all(text[span.start : span.end] == span.text for span in spans)


@pytest.mark.parametrize(
    ("line", "span"),
    [
        ("  - an item", "an item"),
        ("> - [x] done", "done"),
        ("(a) the first", "the first"),
        ("b) the second", "the second"),
        ("  12. the last", "the last"),
        ("A. Marsh signs", "Marsh signs"),
        ("plain words", "plain words"),
        ("(see below)", "(see below)"),
        ("  ~~~\n  x = 1\n  ~~~", "x = 1"),
        ("   ## About", "## About"),
        ("  | a | b |  ", "| a | b |"),
        ("a\tb\tc", "a\tb\tc"),
    ],
)
def test_the_indent_and_the_marker_of_a_line_are_no_part_of_its_span(line: str, span: str) -> None:
    assert [it.text for it in split_spans(f"Before.\n\n{line}\n\n---\n")] == ["Before.", span]


def test_a_span_has_its_bound() -> None:
    assert max(len(span.text) for span in split_spans("word " * 1000)) <= MAX_SPAN


def test_words_are_compared_by_their_stems() -> None:
    assert list_stems("Customers returned the records") == list_stems("customer returning record")
    assert stem("Tagen") == stem("Tage")
    assert [word.text for word in find_words("退货吗 30天")] == ["退货", "货吗", "30", "天"]


@given(text=st.text(alphabet=st.sampled_from("aAbsS1290 .,'’-_/%éß退货の한\n")))
def test_stems_are_those_of_the_words_that_say_something(text: str) -> None:
    assert list_stems(text) == [word.stem for word in find_words(text) if word.is_content]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The shop is in the harbour.", "en"),
        ("Der Laden ist nicht im Hafen.", "de"),
        ("Le magasin est dans le port.", "fr"),
        ("客户可以退货。", "zh"),
        ("Shipping free", ""),
    ],
)
def test_a_language_is_guessed_by_its_small_words(text: str, language: str) -> None:
    assert guess_language(text) == language


def test_negations_are_counted_and_opposites_known() -> None:
    assert count_negations("It is not only nice; nobody doubts it.") == 1
    assert count_negations("Das ist kein Problem, und nicht neu.") == 2
    assert count_negations("不可以退货") == 1
    assert are_opposite(stem("allowed"), stem("forbidden"))
    assert are_opposite("popular", "unpopular")
    assert find_opposite({"shop", stem("open")}, {stem("closed")}) is not None
    assert any_of("a b / c").search("x A B y") is not None


def test_two_sentences_are_compared() -> None:
    first = read_sentence("The old shop sells 30 records a day.")
    second = read_sentence("The old shop sells 40 records a day.")

    found = compare_sentences(first, second)

    assert found is not None
    assert (found.judge, found.about) == ("figures", "30 / 40")
    assert compare_sentences(first, first) is None


def test_a_passage_says_yes_or_no() -> None:
    (part,) = read_question("Do frogs feel disgust?")
    yes = find_stance(part, split_spans("Frogs are indeed able to feel disgust."))
    no = find_stance(part, split_spans("There is no evidence that frogs feel disgust."))

    assert yes is not None
    assert no is not None
    assert yes.yes > 0.5 > no.yes
    assert find_stance(part, split_spans("The harbour is deep.")) is None


def test_confidence_is_the_formula_on_the_three_best() -> None:
    hits = [make_hit("x", score=score) for score in (0.9, 0.6, 0.9, 0.1)]

    confidence = measure_confidence(hits, [1.0, 0.4], covered=1, parts=2)

    assert (confidence.retrieval, confidence.alignment, confidence.coverage) == (0.8, 0.7, 0.5)
    assert confidence.value == pytest.approx(0.4 * 0.8 + 0.4 * 0.7 + 0.2 * 0.5)


@pytest.mark.parametrize(
    ("question", "alignment", "score", "is_covered"),
    [
        ("How do I return a parcel?", 0.35, 0.6, True),
        ("How do I return a parcel?", 0.35, 0.4, False),
        ("How do I return a parcel?", 0.6, 0.4, True),
        ("How do I return a parcel?", 0.6, 0.2, False),
        ("How do I return a parcel?", 0.2, 0.9, False),
        ("When does the shop open?", 0.35, 0.9, False),
        ("When does the shop open?", 0.6, 0.1, True),
    ],
    ids=[
        "a piece that was found well needs less of a span",
        "another one needs more",
        "and is enough with more",
        "one that was barely found is none",
        "nor is a span on something else",
        "a date has to be in the span",
        "and is an answer wherever it stands",
    ],
)
def test_how_well_a_piece_was_found_counts_where_no_kind_of_answer_is_asked_for(
    question: str, alignment: float, score: float, is_covered: bool
) -> None:
    (part,) = read_question(question)
    hit = make_hit("Bring it to the desk.", score=score)
    span = TextSpan(start=0, end=21, text=hit.piece.text)
    quote = QuotedSpan(hit=hit, span=span, alignments=(alignment,))

    assert covers(part, quote, at=0) is is_covered


def test_what_a_model_has_picked_is_covered_by_its_word() -> None:
    (part,) = read_question("How do I return a parcel?")
    picked = quote_of(make_hit("Bring it to the desk.", score=0.1), 0, 21, alignments=(0.9,))

    assert covers(part, picked, at=0)


def test_what_was_looked_at_names_bases_that_failed() -> None:
    looks = [
        BaseLook(base="a", name="Shop", documents=1, pieces=1),
        BaseLook(base="b", name="Law", failure="it is away"),
    ]

    assert describe_looks(looks) == "Searched 1 piece of 1 document. Not searched: Law."


async def test_each_part_of_a_question_is_searched_for() -> None:
    asked: list[str] = []

    async def retrieve(question: str, /, *, limit: int) -> Retrieval:
        asked.append(question)
        hit: Hit = make_hit(question, document=question, score=0.5)
        return Retrieval(question=question, hits=(hit,) * min(1, limit))

    question = "Who signs for a delivery, and when does it come?"
    found = await retrieve_evidence(question, retrieve, limit=2)

    assert asked == [question, "Who signs for a delivery", "when does it come"]
    assert found.question == question
    assert len(found.hits) == 2

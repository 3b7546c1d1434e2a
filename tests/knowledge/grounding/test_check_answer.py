import pytest

from pegboard.core.knowledge import Citation
from pegboard.knowledge.grounding.check_answer import check_answer

QUOTES = (
    "Customers may bring back any record within 30 days of purchase, with the receipt.",
    "The money goes back the way it was paid, on the day the record comes in.",
    "客户可以在三十天内退货，需要收据。",
)
CITATIONS = [
    Citation(
        number=n, piece=f"p{n}", document=f"d{n}", base="b", quote=text, start=0, end=len(text)
    )
    for n, text in enumerate(QUOTES, start=1)
]


def test_numbers_that_carry_their_sentence_stay() -> None:
    text = "A record may come back within 30 days, with its receipt. [1] The money goes back. [2]"

    checked = check_answer(text, CITATIONS)

    assert checked.text == text
    assert [citation.number for citation in checked.citations] == [1, 2]
    assert (checked.left_out, checked.notice) == (0, "")


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param("A record may come back within 90 days of purchase", id="another figure"),
        pytest.param("Shipping is free", id="short, and something else"),
        pytest.param("Gift vouchers expire at the end of the year", id="something else"),
        pytest.param(
            "Customers may not bring back any record within 30 days of purchase, with the receipt",
            id="denied",
        ),
        pytest.param("It says “bring back every record that you own”", id="words it does not have"),
        pytest.param("In 2019 customers could bring a record back", id="a year it does not have"),
    ],
)
def test_a_number_that_does_not_carry_its_sentence_is_dropped(sentence: str) -> None:
    checked = check_answer(
        f"{sentence} [1].\nThe money goes back the way it was paid [2].", CITATIONS
    )

    assert checked.text == f"{sentence}.\nThe money goes back the way it was paid [2]."
    assert checked.left_out == 1
    assert checked.notice == "1 quote was not found and left out."


def test_a_number_that_no_quote_has_is_dropped() -> None:
    checked = check_answer("Records come back within 30 days of purchase [1, 9] [7].", CITATIONS)

    assert checked.text == "Records come back within 30 days of purchase [1]."
    assert checked.notice == "2 quotes were not found and left out."


def test_figures_may_come_from_the_question_and_from_quotes_beside() -> None:
    both = (
        "By the handbook a record of 2021 comes back within 30 days and the money is paid. [1][2]"
    )

    checked = check_answer(both, CITATIONS, question="May a record of 2021 come back?")

    assert checked.left_out == 0


def test_a_sentence_in_another_language_is_judged_by_its_figures() -> None:
    right = check_answer("Kunden haben 30 Tage Zeit, die Ware zu bringen. [1]", CITATIONS)
    wrong = check_answer("Kunden haben 90 Tage Zeit, die Ware zu bringen. [1]", CITATIONS)

    assert (right.left_out, wrong.left_out) == (0, 1)


def test_chinese_answers_are_checked() -> None:
    right = check_answer("客户可以在30天内退货。【3】", CITATIONS)
    wrong = check_answer("客户可以在90天内退货。【3】", CITATIONS)

    assert [citation.number for citation in right.citations] == [3]
    assert wrong.text == "客户可以在90天内退货。"


@pytest.mark.parametrize(
    "text",
    ["```python\nvalues[1]\n```", "Use `values[1]` there.", "See [1](https://example.org)."],
)
def test_code_and_links_are_left_as_they_are(text: str) -> None:
    checked = check_answer(text, CITATIONS)

    assert checked.text == text
    assert checked.left_out == 0


def test_a_model_that_repeats_the_marks_of_evidence_is_understood() -> None:
    checked = check_answer("“bringˆbackˆanyˆrecordˆwithinˆ30ˆdays” is allowed [1]", CITATIONS)

    assert checked.left_out == 0

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.knowledge.grounding.made import make_hit, make_retrieval

from pegboard.knowledge.grounding.conflicts import find_conflicts
from pegboard.knowledge.grounding.ground import ground


def judges(question: str, *texts: str) -> list[str]:
    hits = [make_hit(text, document=f"d{number}") for number, text in enumerate(texts)]
    return [pair.judge for pair in find_conflicts(question, hits)]


@pytest.mark.parametrize(
    ("question", "first", "second", "judge"),
    [
        ("Returns", "Records come back to us within 30 days of purchase.",
         "Records come back to us within 14 days of purchase.", "figures"),
        ("Returns", "Records come back to us within thirty days of purchase.",
         "Records come back to us within 14 days of purchase.", "figures"),
        ("Launch", "The shop in the old harbour opened on 3 March 2019.",
         "The shop in the old harbour opened on 3 May 2019.", "dates"),
        ("Founder", "The shop in the harbour was founded by Helena Marsh.",
         "The shop in the harbour was founded by Amara Okafor.", "names"),
        ("Staff", "Used records are bought from customers on Saturdays.",
         "Used records are not bought from customers on Saturdays.", "negation"),
        ("Smoking", "Smoking in the back office of the shop is allowed.",
         "Smoking in the back office of the shop is forbidden.", "negation"),
        ("Rückgabe", "Kunden können die Ware innerhalb von 30 Tagen zurückgeben.",
         "Kunden können die Ware innerhalb von 14 Tagen zurückgeben.", "figures"),
        ("Hunde", "Hunde dürfen in den Laden mitgebracht werden.",
         "Hunde dürfen nicht in den Laden mitgebracht werden.", "negation"),
        ("退货", "客户可以在30天内退货，需要出示收据。",
         "客户可以在14天内退货，需要出示收据。", "figures"),
        ("退货", "客户可以在三十天内退货，需要出示收据。",
         "客户可以在14天内退货，需要出示收据。", "figures"),
        ("退货", "打开包装的唱片可以退货。", "打开包装的唱片不可以退货。", "negation"),
        ("How long may a customer bring a record back?",
         "Nobody should regret one. Customers may bring back any record within 30 days.",
         "Keep the bag. A customer may bring a record back for 14 days if the sleeve is whole.",
         "figures"),
        ("Is the shop open on Sundays?", "The shop is open on Sundays, from ten to four.",
         "Nobody works on holidays. The shop is not open on Sundays.", "negation"),
    ],
)  # fmt: skip
def test_a_contradiction_is_found(question: str, first: str, second: str, judge: str) -> None:
    assert judges(question, first, second) == [judge]


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Returns", "Records come back to us within 30 days of purchase.",
         "Records come back to us within thirty days of purchase!"),
        ("Price", "The double album costs 1,200.50 EUR in the shop.",
         "The double album costs €1200.50 in the shop."),
        ("Launch", "The shop in the harbour opened on 3 March 2019.",
         "The shop in the harbour opened on 2019-03-03."),
        ("Launch", "The shop in the harbour opened on March 3, 2019.",
         "The shop in the harbour opened in March 2019."),
        ("Founder", "The shop in the harbour was founded by Helena Marsh.",
         "The shop in the harbour was founded by H. Marsh."),
        ("Price", "A double album of the label costs 19.40.", "An album of the label costs 11.60."),
        ("Cities", "Paris has a shop with 12 people in the centre.",
         "London has a shop with 30 people in the centre."),
        ("Returns", "Customers bring records back within 30 days.",
         "Goods are returnable to the distributor within 60 days of delivery."),
        ("Code", 'client.create(model="a-1", max_tokens=100, stream=False)',
         'client.create(model="a-1", max_tokens=500, stream=False)'),
        ("Titel", "Kunden können die Ware 30 Tage lang zurückgeben.",
         "Kunden können die Ware 30 Tage lang zurückgeben, sagt das Handbuch."),
        ("退货", "客户可以在30天内退货，需要出示收据。",
         "客户可以在三十天内退货，需要出示收据。"),
        ("Is the shop open on Sundays?", "The shop is open on Sundays, from ten to four.",
         "Yes, the shop is indeed open on Sundays."),
    ],
)  # fmt: skip
def test_likeness_and_other_forms_are_no_contradiction(
    question: str, first: str, second: str
) -> None:
    assert judges(question, first, second) == []


def test_rows_of_tables_are_compared_by_what_they_are_about() -> None:
    head = "| Article | Price |\n|---|---|\n"
    same = judges(
        "Prices", f"{head}| Double LP, 180 g | 19.40 |", f"{head}| Double LP, 180 g | 21.00 |"
    )
    other = judges(
        "Prices", f"{head}| Double LP, 180 g | 19.40 |", f"{head}| Single LP, 180 g | 11.60 |"
    )

    assert (same, other) == (["figures"], [])


def test_a_sentence_that_the_other_document_has_too_is_no_conflict() -> None:
    both = "The free plan has room for 10 records. The paid plan has room for 500 records."

    assert judges("Plans", both, "The free plan has room for 10 records.") == []


SENTENCES = st.lists(
    st.sampled_from(
        [
            "Customers may bring back any record within 30 days.",
            "Customers may bring back any record within 14 days!",
            "Customers may not bring back any record within 30 days.",
            "customers may bring back any record, within 30 days;",
            "The shop was founded by Helena Marsh in 2019.",
            "The shop was founded by Amara Okafor in 2019.",
            "The shop was founded by Helena Marsh in 2020.",
            "客户可以在30天内退货。",
            "客户不可以在30天内退货。",
        ]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)


@settings(max_examples=50)
@given(texts=st.lists(st.tuples(st.sampled_from("abc"), SENTENCES), min_size=1, max_size=4))
async def test_a_conflict_is_between_two_documents_that_say_different_things(texts) -> None:
    hits = [
        make_hit(text, document=document, start=1000 * number)
        for number, (document, text) in enumerate(texts)
    ]
    evidence = await ground("May customers bring a record back?", make_retrieval("?", *hits))

    quotes = {citation.number: citation for citation in evidence.citations}
    for conflict in evidence.conflicts:
        first, second = quotes[conflict.first], quotes[conflict.second]
        assert first.document != second.document
        assert plain(first.quote) != plain(second.quote)
    pairs = [frozenset((item.first, item.second)) for item in evidence.conflicts]
    assert all(one != other for one, other in combinations(pairs, 2))


def plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def test_what_is_not_asked_for_is_no_conflict_of_a_question() -> None:
    editions = [
        f"Records come back to us within {days} days of purchase. The sleeve has to be whole."
        for days in (14, 30)
    ]

    found = judges(
        "How often does Fairmont deliver?", *editions, "Fairmont delivers twice a week, at noon."
    )

    assert found == []


def test_figures_of_two_matters_are_no_answers_that_differ() -> None:
    question = "Within how many days can a customer return a record?"
    returns = (
        "A customer can return a record. We refund the price of the record within 5 working days."
    )
    supplier = (
        "Customers return to a supplier's record. Write to the supplier after two working days, "
        "and tell customers who wait for a record."
    )

    assert judges(question, returns, supplier) == []


def test_answers_in_other_words_differ() -> None:
    found = judges(
        "How long may a customer bring a record back?",
        "Nobody goes without it. Customers may bring back any record within 30 days of purchase, "
        "with the receipt.",
        "Nobody should regret one. Records can be returned within 14 days of purchase if the "
        "sleeve is undamaged and the receipt is shown.",
    )

    assert found == ["figures"]

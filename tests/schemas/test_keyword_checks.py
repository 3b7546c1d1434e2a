"""What is asked of values that are given, keyword by keyword."""

from typing import Any

import pytest
from tests.tools.schema_cases import DOUBTFUL, NUMBER, TEXT, YES

from pegboard.schemas.compatibility import Fits, schema_fits
from pegboard.schemas.document import Document
from pegboard.schemas.keyword_checks import Case, complaints
from pegboard.schemas.mismatch import Mismatch
from pegboard.schemas.type_facts import Facts, Values


class Stopped:
    """A comparison that goes no further than the keywords at hand."""

    def mismatches(self, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        return [Mismatch(message=f"not looked at: {wanted}")]

    def inside(self, step: str, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        return [mismatch.within(step) for mismatch in self.mismatches(given, document, wanted)]

    def may_go_on(self) -> bool:
        return False


@pytest.mark.parametrize(("one", "other"), YES.values(), ids=YES)
def test_what_surely_fits(one: Any, other: Any) -> None:
    fit = schema_fits(one, other)

    assert (fit.answer, str(fit)) == (Fits.YES, "yes")
    assert fit.is_certain


@pytest.mark.parametrize(("one", "other", "reason"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_may_fit(one: Any, other: Any, reason: str) -> None:
    fit = schema_fits(one, other)

    assert fit.answer is Fits.DOUBTFUL
    assert reason in str(fit)


def test_every_keyword_has_its_own_complaint() -> None:
    wanted = {"type": "number", "minimum": 1, "anyOf": [TEXT], "properties": {"a": NUMBER}}
    first, second = Document({}), Document(wanted)
    given = Values(document=first, nodes=())
    case = Case(comparison=Stopped(), facts=Facts(given), given=given, document=second, node=wanted)

    assert [str(mismatch) for mismatch in complaints(case)] == [
        "may be array or boolean or null or object or string; wanted is number",
        "may be less than 1",
        "[]: not looked at: True",
        "a: not looked at: {'type': 'number'}",
        "not looked at: {'type': 'string'}",
    ]

"""Why no value fits two schemas at once."""

from typing import Any

import pytest
from tests.tools.schema_cases import NO, NUMBER, TEXT, an_object

from pegboard.schemas.compatibility import Fits, schema_fits
from pegboard.schemas.disjoint import why_apart
from pegboard.schemas.document import Document
from pegboard.schemas.mismatch import Mismatch
from pegboard.schemas.type_facts import Values


class Patient:
    """A comparison that grants nothing and goes on for ever."""

    def mismatches(self, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        return [Mismatch(message="not looked at")]

    def inside(self, step: str, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        return self.mismatches(given, document, wanted)

    def may_go_on(self) -> bool:
        return True


def values(schema: Any) -> Values:
    document = Document(schema)
    return Values(document=document, nodes=document.nodes(schema))


@pytest.mark.parametrize(("one", "other", "reason"), NO.values(), ids=NO)
def test_what_never_fits(one: Any, other: Any, reason: str) -> None:
    fit = schema_fits(one, other)

    assert fit.answer is Fits.NO
    assert fit.is_impossible
    assert reason in str(fit)


@pytest.mark.parametrize(("one", "other", "_reason"), NO.values(), ids=NO)
def test_what_never_fits_does_not_the_other_way_round(one: Any, other: Any, _reason: str) -> None:
    assert schema_fits(other, one).answer is not Fits.DOUBTFUL


def test_nothing_is_shown_of_what_refers_to_itself_without_end() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    also = {"$defs": {"x": {**endless, "properties": {"a": {"$ref": "#/$defs/x"}}}}}

    reason = why_apart(Patient(), values(endless), values({**also, "$ref": "#/$defs/x"}))

    assert reason is None


def test_every_shared_type_has_to_be_apart() -> None:
    one = {"type": ["string", "number"], "minLength": 5, "minimum": 5}
    other = {"type": ["string", "number"], "maxLength": 4, "maximum": 4}

    assert why_apart(Patient(), values(one), values(other)) is not None
    assert why_apart(Patient(), values(one), values({**other, "maximum": 5})) is None
    assert why_apart(Patient(), values(an_object(a=TEXT)), values(an_object(a=NUMBER))) is None

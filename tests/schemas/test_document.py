"""A schema with its references followed."""

from typing import Any

import pytest

from pegboard.schemas.document import NEVER, UNREADABLE, SchemaDocument

TEXT = {"type": "string"}
SHARED: dict[str, Any] = {
    "$defs": {"text": TEXT},
    "prefixItems": [TEXT],
    "properties": {"a": {"$ref": "#/$defs/text"}},
    "allOf": [{"minProperties": 1}, False],
}


def test_a_schema_is_opened_up_into_parts() -> None:
    document = SchemaDocument(SHARED)

    assert document.nodes(SHARED) == (SHARED, {"minProperties": 1}, NEVER)
    assert document.nodes(SHARED["properties"]["a"]) == (TEXT, {"$ref": "#/$defs/text"})
    assert document.nodes(True) == ()


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#/prefixItems/0", TEXT),
        ("#/prefixItems/7", UNREADABLE),
        ("#/prefixItems/0/type/x", UNREADABLE),
        ("#/$defs/nowhere", UNREADABLE),
        ("other.json", UNREADABLE),
        ("#anchor", UNREADABLE),
    ],
    ids=["into a list", "beyond it", "into a text", "nowhere", "another file", "an anchor"],
)
def test_a_reference_that_leads_nowhere_is_not_understood(reference: str, target: Any) -> None:
    assert SchemaDocument(SHARED).nodes({"$ref": reference})[0] == target


def test_values_are_checked_against_a_part() -> None:
    document = SchemaDocument(SHARED)
    part = SHARED["properties"]["a"]

    assert document.accepts(part, "x") is True
    assert document.accepts(part, 5) is False
    assert document.accepts(UNREADABLE, 5) is None
    assert document.accepts({"$ref": "#/$defs/nowhere"}, 5) is None


def test_a_part_takes_along_what_it_refers_to() -> None:
    part = SHARED["properties"]["a"]
    alone = SchemaDocument(SHARED).extract(part)

    assert alone == {"$defs": SHARED["$defs"], "allOf": [part]}
    assert SchemaDocument({"properties": {"a": TEXT}}).extract(TEXT) == TEXT
    assert SchemaDocument({"properties": {"a": {"$ref": "#"}}}).extract(TEXT) is None

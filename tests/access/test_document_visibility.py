"""Who may see a document of a base that they may see."""

import pytest

from pegboard.access.document_visibility import is_document_visible, is_in_scope
from pegboard.core.ports.knowledge.document_store import Audience, DocumentScope, StoredDocument
from pegboard.core.principal import LOCAL, Principal

ADA = Principal(id="ada", user="u1", organisations=frozenset({"acme"}))
EVE = Principal(id="eve", user="u2", organisations=frozenset({"acme"}))
BOB = Principal(id="bob", user="u3", organisations=frozenset({"zoo"}))


def a_document(audience: Audience = "base", organisation: str = "") -> StoredDocument:
    return StoredDocument(
        id="d1",
        base="b1",
        name="a.txt",
        owner="/u1",
        audience=audience,
        organisation=organisation,
        created_at=0.0,
        updated_at=0.0,
    )


@pytest.mark.parametrize(
    ("document", "seers"),
    [
        pytest.param(a_document(), [LOCAL, ADA, EVE, BOB], id="of the base"),
        pytest.param(a_document("organisation", "acme"), [LOCAL, ADA, EVE], id="of acme"),
        pytest.param(a_document("organisation", "zoo"), [LOCAL, ADA, BOB], id="of another's"),
        pytest.param(a_document("private"), [LOCAL, ADA], id="private"),
    ],
)
def test_a_document_narrows_who_sees_it(document: StoredDocument, seers: list[Principal]) -> None:
    assert [it for it in (LOCAL, ADA, EVE, BOB) if is_document_visible(it, document)] == seers


def test_a_document_of_a_base_that_is_not_in_the_scope_is_not_there() -> None:
    assert is_in_scope(DocumentScope(bases=("b1",), principal=ADA), a_document())
    assert not is_in_scope(DocumentScope(bases=("b2",), principal=ADA), a_document())

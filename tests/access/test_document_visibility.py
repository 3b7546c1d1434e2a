"""Who may see a document of a base that they may see."""

import pytest
from msgspec import structs

from pegboard.access.document_visibility import (
    is_document_visible,
    is_in_scope,
    may_take_place,
    narrow_audience,
)
from pegboard.core.ports.knowledge.document_store import Audience, DocumentScope, StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest

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


BASE, ACME, ZOO, PRIVATE = (
    a_document(),
    a_document("organisation", "acme"),
    a_document("organisation", "zoo"),
    a_document("private"),
)


@pytest.mark.parametrize(
    ("known", "new", "expected"),
    [
        pytest.param(BASE, BASE, BASE, id="as it was"),
        pytest.param(BASE, ACME, ACME, id="to an organisation"),
        pytest.param(BASE, PRIVATE, PRIVATE, id="to its owner"),
        pytest.param(ACME, BASE, ACME, id="not to all"),
        pytest.param(ACME, ACME, ACME, id="to the same organisation"),
        pytest.param(ACME, PRIVATE, PRIVATE, id="from an organisation to its owner"),
        pytest.param(PRIVATE, ACME, PRIVATE, id="not to an organisation"),
    ],
)
def test_a_new_file_never_shows_a_document_to_more_people(
    known: StoredDocument, new: StoredDocument, expected: StoredDocument
) -> None:
    assert narrow_audience(known, to=new) == (expected.audience, expected.organisation)


def test_a_new_file_does_not_move_a_document_to_another_organisation() -> None:
    with pytest.raises(InvalidRequest, match="for the organisation 'acme'"):
        narrow_audience(ACME, to=ZOO)


def of_eve(document: StoredDocument) -> StoredDocument:
    return structs.replace(document, owner=EVE.owner)


def of_folder(document: StoredDocument, label: Audience = "base") -> StoredDocument:
    return structs.replace(document, source="file:notes", source_audience=label)


@pytest.mark.parametrize(
    ("new", "known", "may"),
    [
        pytest.param(BASE, BASE, True, id="an own document"),
        pytest.param(PRIVATE, BASE, True, id="an own document for fewer"),
        pytest.param(of_eve(BASE), BASE, True, id="that of another owner"),
        pytest.param(of_eve(BASE), PRIVATE, False, id="one that its caller does not see"),
        pytest.param(of_eve(PRIVATE), BASE, False, id="a private file for that of another owner"),
        pytest.param(of_eve(ACME), BASE, False, id="a file for fewer for that of another owner"),
        pytest.param(of_eve(ACME), ACME, True, id="a file for the same organisation"),
        pytest.param(
            of_folder(of_eve(BASE)), of_folder(PRIVATE), True, id="a hidden one of the same source"
        ),
        pytest.param(
            of_folder(of_eve(BASE)),
            of_folder(PRIVATE, "private"),
            False,
            id="one of the private source of another owner",
        ),
        pytest.param(
            of_folder(of_eve(BASE)), PRIVATE, True, id="one stored before that was recorded"
        ),
    ],
)
def test_a_file_takes_the_place_of_documents_that_its_caller_may_know(
    new: StoredDocument, known: StoredDocument, *, may: bool
) -> None:
    caller = EVE if new.owner == EVE.owner else ADA
    assert may_take_place(new, caller, of=known) is may

"""Changes of documents."""

from tests.storage.test_documents import a_document

from pegboard.storage.document_changes import change_document


def test_a_default_fills_what_is_empty_and_nothing_else() -> None:
    document = a_document(title="Mine")

    changed = change_document(document, {"state": "held"}, {"title": "Found", "edition": "2026"})

    assert changed == a_document(title="Mine", edition="2026", state="held")

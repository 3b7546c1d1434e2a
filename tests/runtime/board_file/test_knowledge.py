"""The `knowledge:` section of a board file."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pegboard.runtime.board_file.knowledge import KnowledgeEntries, KnowledgeEntry, read_time


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h", 3600), ("1d", 86400)]
)
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert read_time(text) == seconds


@pytest.mark.parametrize("value", ["1", 60, "soon", "1s", None])
def test_other_times_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="write a time"):
        read_time(value)


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "handbook"},
        {"name": "handbook", "folder": "a", "url": "https://a.example/"},
        {"name": "two--parts", "folder": "a"},
        {"name": "handbook", "url": "file:///etc"},
    ],
)
def test_a_wrong_entry_is_refused(entry: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        KnowledgeEntry.model_validate(entry)


def test_two_bases_of_one_name_are_refused() -> None:
    entry = {"name": "handbook", "folder": "a"}
    with pytest.raises(ValidationError, match="a name of its own"):
        TypeAdapter(KnowledgeEntries).validate_python([entry, entry])

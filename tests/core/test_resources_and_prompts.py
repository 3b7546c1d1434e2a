import pytest

from pegboard.core.resources_and_prompts import ResourceSpec, board_uri, split_board_uri


@pytest.mark.parametrize(
    ("source", "uri", "shown"),
    [
        ("docs", "file:///a.md", "board://docs/file:///a.md"),
        ("my_docs", "x://{page}", "board://my_docs/x://{page}"),
        ("docs", "board://docs/file:///a.md", "board://docs/file:///a.md"),
        ("", "test://static", "test://static"),
    ],
)
def test_a_resource_of_a_source_stands_under_its_name(source: str, uri: str, shown: str) -> None:
    assert board_uri(source, uri) == shown


@pytest.mark.parametrize(
    ("uri", "parts"),
    [
        ("board://docs/file:///a.md", ("docs", "file:///a.md")),
        ("test://static", ("", "test://static")),
        ("board://docs", ("", "board://docs")),
        ("board:///x", ("", "board:///x")),
        ("board://docs/", ("", "board://docs/")),
    ],
)
def test_a_board_uri_is_taken_apart(uri: str, parts: tuple[str, str]) -> None:
    assert split_board_uri(uri) == parts


def test_a_uri_with_places_is_a_template() -> None:
    assert ResourceSpec(uri="a://{b}", name="b").is_template
    assert not ResourceSpec(uri="a://b", name="b").is_template
    assert ResourceSpec(uri="a://b", name="b").in_source("s").source == "s"

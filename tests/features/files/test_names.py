"""Names of files."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.features.files.names import check_name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "..",
        ". .",
        "\t.",
        "a/b",
        "../a",
        "a\\b",
        "a\0b",
        "a\nb",
        "a\n",
        "gpj\u202eexe",
        "x" * 256,
        "\ud800",
    ],
    ids=ascii,
)
def test_a_name_has_no_folders_and_nothing_hidden(name: str) -> None:
    with pytest.raises(InvalidRequest):
        check_name(name)


@pytest.mark.parametrize(
    "name", ["\u00dcbersicht (2026).pdf", ".env", "\u5831\u544a 1.docx", "a" * 255], ids=ascii
)
def test_other_names_are_as_they_were_given(name: str) -> None:
    assert check_name(name) == name

"""Names of files."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.features.files.names import check_name, check_path


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


@pytest.mark.parametrize("path", ["", "a.md", "guide/returns (2026).md", ".github/a.md"])
def test_a_path_leads_down_from_a_folder(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize(
    "path",
    ["/etc/x", "../x", "a/../x", "a//x", "a/", "a\\x", "a\x00b", "\u202ea", "a/\ud800", "a" * 501],
    ids=ascii,
)
def test_a_path_that_leads_elsewhere_or_hides_something_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequest):
        check_path(path)

"""A version is read in one way wherever one is named."""

import pytest
from tests.registry.made import a_tool

from pegboard import ToolRegistry
from pegboard.errors import InvalidRequest, VersionNotFound
from pegboard.registry.version_specifiers import fits_pin, resolve_version

KNOWN = ["1.0.0", "1.1.0", "1.1.1", "2.0.0", "3.0", "3.0.1", "10.0.0"]


@pytest.mark.parametrize(
    ("version", "pin", "fits"),
    [("1.2.3", "1.2", True), ("1.20.3", "1.2", False), ("1.2", "1.2.0", False), ("2", "2", True)],
)
def test_a_pin_is_the_beginning_of_a_version(version: str, pin: str, fits: bool) -> None:
    assert fits_pin(version, pin) is fits


@pytest.mark.parametrize(
    ("said", "found"),
    [
        pytest.param("1.0.0", "1.0.0", id="in full"),
        pytest.param("1.0", "1.0.0", id="the only one that begins so"),
        pytest.param("2", "2.0.0", id="by its first number"),
        pytest.param("3.0", "3.0", id="in full, though another begins so"),
    ],
)
def test_a_version_is_named_as_in_a_pin(said: str, found: str) -> None:
    assert resolve_version(said, KNOWN, name="search") == found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("1.1", "'1.1' may be several versions of 'search': 1.1.0, 1.1.1; name one in full."),
        ("1", "'1' may be several versions of 'search': 1.0.0, 1.1.0, 1.1.1; name one in full."),
    ],
)
def test_what_may_be_several_versions_is_refused_with_them(said: str, told: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        resolve_version(said, KNOWN, name="search")

    assert str(refused.value) == told


@pytest.mark.parametrize("said", ["4", "1.0.0.0", "v1", "1.", "0"])
def test_what_is_no_version_is_told_with_those_that_there_are(said: str) -> None:
    with pytest.raises(VersionNotFound, match=r"there are 1\.0\.0, 1\.1\.0, .* 10\.0\.0\."):
        resolve_version(said, KNOWN, name="search")


def test_a_call_by_a_version_in_full_is_answered_by_that_one() -> None:
    registry = ToolRegistry()
    for version in ("1.0", "1.0.1"):
        made = a_tool("search", description=version, version=version)
        registry.add(registry.versions.register(made), on_conflict="replace")

    found = [registry.get(f"search@{pin}").spec.version for pin in ("1.0", "1.0.1", "1")]

    assert found == ["1.0", "1.0.1", "1.0.1"]

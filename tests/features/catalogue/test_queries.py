"""What is told of registered tools and their versions, also once they were taken off."""

import pytest
from tests.features.catalogue.made import service

from pegboard import ToolRegistry
from pegboard.core.principal import LOCAL
from pegboard.errors import InvalidRequest, ToolNotFound, VersionNotFound
from pegboard.features.catalogue import CatalogueService
from pegboard.storage import MemoryStorage


@pytest.fixture
async def catalogue(storage: MemoryStorage) -> CatalogueService:
    """`a` has three versions and means the second one; `gone` was taken off."""
    made = service(storage, ToolRegistry())
    for words in ("One.", "Two.", "Three."):
        await made.register([{"name": "a", "description": words}], origin=words, principal=LOCAL)
    await made.register([{"name": "gone"}], principal=LOCAL)
    await made.roll_back("a", "1.0.1", principal=LOCAL)
    await made.remove("gone", principal=LOCAL)
    return made


async def test_every_version_is_told_the_oldest_first(catalogue: CatalogueService) -> None:
    rows = catalogue.history("a")

    assert [(row["version"], row["is_current"], row["origin"]) for row in rows] == [
        ("1.0.0", False, "One."),
        ("1.0.1", True, "Two."),
        ("1.0.2", False, "Three."),
    ]
    assert catalogue.origin("a") == "Three."


async def test_what_was_taken_off_has_versions_and_means_none(catalogue: CatalogueService) -> None:
    [row] = catalogue.history("gone")

    assert (row["version"], row["is_current"]) == ("1.0.0", False)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        pytest.param(("", ""), ("1.0.0", "1.0.1"), id="the current one from that before"),
        pytest.param(("", "1.0.2"), ("1.0.1", "1.0.2"), id="one from that before"),
        pytest.param(("1.0.2", ""), ("1.0.2", "1.0.1"), id="the current one from another"),
        pytest.param(("", "1.0.0"), ("1.0.0", "1.0.0"), id="the first has none before"),
        pytest.param(("1.0.0", "1.0.2"), ("1.0.0", "1.0.2"), id="two"),
    ],
)
async def test_a_difference_is_told_of_these(
    catalogue: CatalogueService, asked: tuple[str, str], told: tuple[str, str]
) -> None:
    found = catalogue.diff("a", *asked)

    assert (found["from"], found["to"]) == told
    assert [change["place"] for change in found["changes"]] == ["description"] * (
        told[0] != told[1]
    )


async def test_a_version_that_never_was_is_refused(catalogue: CatalogueService) -> None:
    with pytest.raises(VersionNotFound, match=r"there are 1\.0\.0, 1\.0\.1, 1\.0\.2"):
        catalogue.diff("a", "9.0.0")
    with pytest.raises(ToolNotFound):
        catalogue.diff("nobody")


async def test_a_version_is_named_by_the_numbers_with_which_no_other_begins(
    catalogue: CatalogueService,
) -> None:
    await catalogue.register(
        [{"name": "a", "version": "2.0.0", "description": "Four."}], principal=LOCAL
    )

    found = catalogue.diff("a", "1.0.0", "2")

    assert (found["from"], found["to"]) == ("1.0.0", "2.0.0")
    with pytest.raises(InvalidRequest, match=r"'1\.0' may be several versions of 'a': 1\.0\.0, "):
        catalogue.diff("a", "1.0", "2.0.0")


async def test_a_version_is_rolled_back_to_and_deprecated_as_it_is_pinned(
    catalogue: CatalogueService,
) -> None:
    await catalogue.register([{"name": "b", "version": "1.0"}], principal=LOCAL)
    await catalogue.register(
        [{"name": "b", "version": "2.0.0", "description": "Other."}], principal=LOCAL
    )
    await catalogue.register(
        [{"name": "b", "version": "3.0.0", "description": "Last."}], principal=LOCAL
    )

    back = await catalogue.roll_back("b", "2.0", principal=LOCAL)
    old = await catalogue.deprecate("b", "3", principal=LOCAL)
    now = await catalogue.deprecate("b", "2", principal=LOCAL)
    first = await catalogue.roll_back("b", "1", principal=LOCAL)

    assert [made.version for made in (back, old, now, first)] == ["2.0.0", "3.0.0", "2.0.0", "1.0"]
    assert [made.is_current for made in (back, old, now, first)] == [True, False, True, True]
    with pytest.raises(InvalidRequest, match="name one in full"):
        await catalogue.roll_back("a", "1", principal=LOCAL)

"""Names that belong to one argument, as a lenient server reads them."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.piece_names import PieceNames


@pytest.fixture
def names() -> PieceNames:
    made = PieceNames()
    made.claim_parameter("owner_id", {}, owner="owner_id")
    made.claim_parameter("filter", {"properties": {"status": {}}}, owner="filter")
    made.claim_parameter("more", None, owner="more")
    return made


@pytest.mark.parametrize(
    "written",
    [
        *("owner_id", "OWNER_ID", "owner_id[]", "owner_id[0]", "owner.id", "owner+id"),
        *("owner_id%00x", "owner%5Bid", "status", "filter", "filter[size]"),
    ],
)
def test_a_name_of_another_argument_is_refused(names: PieceNames, written: str) -> None:
    with pytest.raises(InvalidRequest, match="'more' must not have"):
        names.check(["size=1", f"{written}=evil"], owner="more", name="more")


@pytest.mark.parametrize("written", ["size", "more", "more[a]", "owner", "id", "statuses"])
def test_any_other_name_is_free(names: PieceNames, written: str) -> None:
    names.check([f"{written}=1"], owner="more", name="more")


def test_a_documented_property_belongs_to_its_argument(names: PieceNames) -> None:
    names.check(["status=open"], owner="filter", name="filter")


@pytest.mark.parametrize(
    ("hidden", "written"),
    [
        ("f[owner]", "f[owner]"),
        ("f[owner]", "f[owner][]"),
        ("f[owner]", "f%5Bowner%5D%5B0%5D"),
        ("f[owner]", "f[owner][a][b]"),
        ("f[owner][id]", "f[owner]"),
        ("f[owner][id]", "f[OWNER][]"),
    ],
)
def test_an_object_does_not_reach_into_or_around_a_name_beside_it(
    hidden: str, written: str
) -> None:
    names = PieceNames()
    names.claim_parameter("f", {}, owner="f")
    names.claim(hidden, owner="")

    with pytest.raises(InvalidRequest, match="'f' must not have"):
        names.check([f"{written}=evil"], owner="f", name="f")


@pytest.mark.parametrize("written", ["f[size]", "f[owner][x]", "f[other][id]"])
def test_an_object_keeps_the_names_beside_a_claimed_one(written: str) -> None:
    names = PieceNames()
    names.claim_parameter("f", {}, owner="f")
    names.claim("f[owner][id]", owner="")

    names.check([f"{written}=1"], owner="f", name="f")

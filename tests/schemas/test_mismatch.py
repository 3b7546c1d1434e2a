"""Where something does not fit, as people write it."""

from pegboard.schemas.mismatch import Mismatch


def test_a_place_is_told_from_outside_in() -> None:
    mismatch = Mismatch(message="may be null")

    assert str(mismatch) == "may be null"
    assert (
        str(mismatch.within("price").within("[]").within("items")) == "items[].price: may be null"
    )
    assert str(mismatch.within("[0]").within("a").within("b")) == "b.a[0]: may be null"

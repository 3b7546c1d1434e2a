"""Where something does not fit, as people write it."""

from pegboard.tools.schema_misfit import Misfit


def test_a_place_is_told_from_outside_in() -> None:
    misfit = Misfit(message="may be null")

    assert str(misfit) == "may be null"
    assert str(misfit.within("price").within("[]").within("items")) == "items[].price: may be null"
    assert str(misfit.within("[0]").within("a").within("b")) == "b.a[0]: may be null"

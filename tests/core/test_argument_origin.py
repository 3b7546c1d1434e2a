"""A call is its caller's wish where there is no reason against it."""

from pegboard.core.argument_origin import ArgumentOrigins


def test_a_reason_to_ask_means_that_the_caller_has_not_named_it() -> None:
    assert ArgumentOrigins().are_named
    assert not ArgumentOrigins(reason="the caller has named nothing of it").are_named

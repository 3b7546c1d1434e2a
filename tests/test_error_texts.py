"""Texts that several errors share."""

from pegboard import errors
from pegboard.error_texts import Problem, hint_at, shorten_name


def test_the_nearest_names_are_named() -> None:
    assert hint_at(("add", "sum")) == " Did you mean 'add' or 'sum'?"
    assert hint_at(()) == ""


def test_errors_have_them_too() -> None:
    assert (errors.Problem, errors.shorten_name) == (Problem, shorten_name)
    assert shorten_name("x" * 101) == "x" * 100 + "…"

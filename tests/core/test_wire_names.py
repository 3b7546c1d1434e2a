"""Wire names: legal everywhere, stable, and reversible."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.wire_names import (
    is_glob,
    is_shortened,
    is_source_name,
    is_wire_name,
    shorten_wire_name,
    split_wire_name,
    wire_name,
)

LEGAL = string.ascii_letters + string.digits + "_-"
SOURCES = st.from_regex(r"[a-zA-Z0-9](?:-|_?[a-zA-Z0-9]){0,14}", fullmatch=True)
PLAIN_ACTIONS = st.text(LEGAL, min_size=1, max_size=32)
ANY_ACTIONS = st.text(min_size=1, max_size=200)


@given(source=SOURCES, action=PLAIN_ACTIONS)
def test_a_name_that_fits_is_kept_and_can_be_split_again(source: str, action: str) -> None:
    name = wire_name(source, action)

    assert name == f"{source}__{action}"
    assert split_wire_name(name) == (source, action)


@given(source=SOURCES, action=ANY_ACTIONS)
def test_any_action_gets_a_legal_name_of_its_source(source: str, action: str) -> None:
    name = wire_name(source, action)

    assert is_wire_name(name)
    assert split_wire_name(name)[0] == source


@given(source=SOURCES, actions=st.sets(ANY_ACTIONS, min_size=2, max_size=8))
def test_different_actions_get_different_names(source: str, actions: set[str]) -> None:
    assert len({wire_name(source, action) for action in actions}) == len(actions)


@given(first=st.tuples(SOURCES, PLAIN_ACTIONS), second=st.tuples(SOURCES, PLAIN_ACTIONS))
def test_different_sources_never_share_a_name(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    assert (wire_name(*first) == wire_name(*second)) == (first == second)


def test_a_long_action_stays_legible_and_ends_in_a_digest() -> None:
    name = wire_name("github", "repos/list-for-authenticated-user/with a very long tail of words")

    assert name == "github__repos_list-for-authenticated-user_with_a_very__x9c14f983"


@given(source=SOURCES, action=ANY_ACTIONS)
def test_an_action_that_looks_like_a_made_name_does_not_collide_with_it(
    source: str, action: str
) -> None:
    name = wire_name(source, action)
    _, made = split_wire_name(name)

    assert (wire_name(source, made) == name) == (made == action)


@pytest.mark.parametrize("action", ["sales_20240101", "sum_deadbeef", "a_x", "a_x123"])
def test_an_action_with_a_number_at_its_end_is_kept(action: str) -> None:
    assert wire_name("shop", action) == f"shop__{action}"


@pytest.mark.parametrize("name", ["a", "A-1", "my_db", "a" * 30])
def test_a_source_name_is_accepted(name: str) -> None:
    assert is_source_name(name)


@pytest.mark.parametrize("name", ["", "_a", "a_", "a__b", "a b", "a.b", "-a", "é", "a" * 31])
def test_what_would_make_a_name_ambiguous_is_no_source_name(name: str) -> None:
    assert not is_source_name(name)


@pytest.mark.parametrize("name", ["", "a b", "a.b", "é", "a" * 65, "a\n"])
def test_what_a_provider_refuses_is_no_wire_name(name: str) -> None:
    assert not is_wire_name(name)


def test_a_bare_function_has_no_source() -> None:
    assert split_wire_name("letter_counter") == ("", "letter_counter")


@pytest.mark.parametrize("name", ["__x", "a b__x", "shop__"])
def test_a_name_that_only_looks_like_two_parts_is_one(name: str) -> None:
    assert split_wire_name(name) == ("", name)


def test_a_name_needs_a_source_and_an_action() -> None:
    with pytest.raises(ValueError, match="not a source name"):
        wire_name("my source", "x")
    with pytest.raises(ValueError, match="needs a name"):
        wire_name("shop", "")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("shop__*", True), ("shop__find_?", True), ("shop__[ab]", True), ("shop__find", False)],
)
def test_a_glob_has_a_sign_that_no_wire_name_has(name: str, expected: bool) -> None:
    assert is_glob(name) is expected
    assert not (expected and is_wire_name(name))


def test_a_long_name_is_cut_and_told_from_others() -> None:
    long = "ada--github__issues_check-user-can-be-assigned-to-issue"
    short = shorten_wire_name(long, 48)

    assert shorten_wire_name(long, 64) == long
    assert len(short) == 47  # no '-' before the mark
    assert short.startswith("ada--github__issues_check-user-can-be_x")
    assert is_shortened(short)
    assert is_wire_name(short)
    assert not is_shortened(long)
    assert shorten_wire_name(f"{long}s", 48) != short
    assert split_wire_name(shorten_wire_name(f"{'s' * 30}__{'a' * 32}", 44))[0] == "s" * 30

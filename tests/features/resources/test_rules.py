"""Names of resources, who may change and review them, and what a change does to a review."""

from typing import Any

import pytest
from msgspec import structs
from tests.storage.test_resources import a_resource

from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest
from pegboard.features.resources.rules import (
    find_next_status,
    join_name,
    may_edit,
    may_review,
)

OWNER = Principal(id="u1", user="u1", scopes=frozenset({"acme/people:write"}))
ADMINISTRATOR = Principal(id="u2", user="u2", scopes=frozenset({"acme/people:write"}))
STRANGER = Principal(id="u3", user="u3", scopes=frozenset({"zoo/people:write"}))
OPERATOR = Principal(id="u4", user="u4", scopes=frozenset({"*"}))
PROPOSED = {"organisation": "acme", "visibility": "organisation", "publish_status": "pending"}


@pytest.mark.parametrize(
    ("owner", "name", "full"),
    [("ada", "github", "ada--github"), ("", "github", "github"), ("ada", "a-b_c", "ada--a-b_c")],
)
def test_a_name_stands_behind_its_owner(owner: str, name: str, full: str) -> None:
    assert join_name(owner, name) == full


@pytest.mark.parametrize("name", ["", "a--b", "-a", "a__b", "a_", "x" * 26, "a b"])
def test_a_name_that_could_mean_another_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be a name"):
        join_name("ada", name)


@pytest.mark.parametrize(
    ("caller", "changes", "may"),
    [
        (OWNER, {}, True),
        (ADMINISTRATOR, PROPOSED, False),
        (OPERATOR, {}, False),
        (OPERATOR, {"visibility": "global"}, True),
        (LOCAL, {}, True),
    ],
)
def test_a_resource_is_changed_by_its_owner(
    caller: Principal, changes: dict[str, Any], may: bool
) -> None:
    assert may_edit(caller, a_resource(**changes)) is may


@pytest.mark.parametrize(
    ("caller", "changes", "may"),
    [
        (ADMINISTRATOR, PROPOSED, True),
        (ADMINISTRATOR, {}, False),
        (OWNER, PROPOSED, False),
        (STRANGER, PROPOSED, False),
        (OPERATOR, PROPOSED, True),
        (structs.replace(OPERATOR, user="u1"), PROPOSED, False),
        (LOCAL, PROPOSED, True),
    ],
)
def test_a_resource_is_reviewed_by_another_administrator(
    caller: Principal, changes: dict[str, Any], may: bool
) -> None:
    assert may_review(caller, a_resource(**changes)) is may


@pytest.mark.parametrize(
    ("status", "following"),
    [
        ("none", "none"),
        ("draft", "draft"),
        ("pending", "pending"),
        ("approved", "pending"),
        ("rejected", "draft"),
    ],
)
def test_a_changed_resource_is_reviewed_again(status: Any, following: str) -> None:
    assert find_next_status(a_resource(**PROPOSED | {"publish_status": status})) == following

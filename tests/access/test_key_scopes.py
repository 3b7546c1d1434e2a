"""What the scopes of a key allow of tools."""

import pytest

from pegboard.access.key_scopes import explain_missing_key_scope
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect


@pytest.mark.parametrize(
    ("scopes", "reads", "writes"),
    [
        pytest.param({"acme/tools:read", "acme/tools:write"}, True, True, id="an editor's"),
        pytest.param({"acme/tools:read"}, True, False, id="a member's"),
        pytest.param({"tools:write"}, True, True, id="an operator's, to write"),
        pytest.param({"acme/people:write"}, False, False, id="another"),
        pytest.param({"*"}, True, True, id="an operator's"),
        pytest.param(set[str](), False, False, id="none"),
    ],
)
def test_a_key_calls_the_tools_that_its_scopes_name(
    scopes: set[str], reads: bool, writes: bool
) -> None:
    caller = Principal(id="bob", user="bob", key="key_1", scopes=frozenset(scopes))

    reasons = [explain_missing_key_scope(caller, it) for it in (Effect.READ, Effect.WRITE)]

    assert [not reason for reason in reasons] == [reads, writes]


def test_a_caller_without_a_key_is_not_limited_by_scopes() -> None:
    caller = Principal(id="bob", user="bob")

    assert explain_missing_key_scope(caller, Effect.WRITE) == ""

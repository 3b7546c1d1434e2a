import pytest

from pegboard.core.principal import LOCAL, Principal


@pytest.mark.parametrize(
    ("scopes", "has"),
    [
        pytest.param({"orders:read"}, True, id="the scope itself"),
        pytest.param({"*"}, True, id="all scopes"),
        pytest.param({"orders"}, False, id="a prefix is another scope"),
        pytest.param(set[str](), False, id="none"),
    ],
)
def test_a_scope_is_carried_or_not(scopes: set[str], has: bool) -> None:
    assert Principal(id="ann", scopes=frozenset(scopes)).has_scope("orders:read") is has


def test_whoever_runs_the_process_has_every_scope() -> None:
    assert LOCAL.has_scope("anything")

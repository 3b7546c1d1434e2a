import pytest

from pegboard.core.principal import LOCAL, Principal, expand_id, expand_owner


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


@pytest.mark.parametrize(
    ("tenant", "id_", "owns"),
    [
        pytest.param("acme", "u_1", True, id="for its organisation"),
        pytest.param("zoo", "u_1", True, id="for another organisation"),
        pytest.param("", "u_1", True, id="for none"),
        pytest.param("acme", "u_2", False, id="a colleague's"),
    ],
)
def test_an_account_owns_what_is_its_own_whichever_organisation_it_acts_for(
    tenant: str, id_: str, owns: bool
) -> None:
    account = Principal(id="u_1", tenant="acme", user="u_1")

    assert account.owns(tenant, id_) is owns
    assert account.owner == "/u_1"


@pytest.mark.parametrize(
    ("tenant", "id_", "owns"),
    [
        pytest.param("acme", "ann", True, id="its own"),
        pytest.param("zoo", "ann", False, id="of a namesake"),
        pytest.param("acme", "bob", False, id="of another"),
    ],
)
def test_without_an_account_the_tenant_is_part_of_who_it_is(
    tenant: str, id_: str, owns: bool
) -> None:
    assert Principal(id="ann", tenant="acme").owns(tenant, id_) is owns


def test_local_owns_what_the_holder_of_the_token_did() -> None:
    assert LOCAL.owns("", "token")
    assert expand_id("local") == ("local", "token")
    assert expand_id("ann") == ("ann",)
    assert expand_owner("/local") == ("/local", "/token")
    assert expand_owner("acme/local") == ("acme/local",)
    assert not Principal(id="token").owns("", "local")


@pytest.mark.parametrize(
    ("principal", "tenant", "has"),
    [
        pytest.param(LOCAL, "acme", True, id="local everywhere"),
        pytest.param(
            Principal(id="a", scopes=frozenset({"operator"})), "acme", True, id="operator"
        ),
        pytest.param(
            Principal(id="a", tenant="acme", scopes=frozenset({"runs:all"})), "acme", True, id="own"
        ),
        pytest.param(
            Principal(id="a", tenant="acme", scopes=frozenset({"runs:all"})),
            "zoo",
            False,
            id="other",
        ),
        pytest.param(
            Principal(id="a", user="a", scopes=frozenset({"acme/runs:all"})),
            "acme",
            True,
            id="role",
        ),
        pytest.param(
            Principal(id="a", user="a", scopes=frozenset({"acme/runs:all"})),
            "zoo",
            False,
            id="role elsewhere",
        ),
        pytest.param(
            Principal(id="a", tenant="x", scopes=frozenset({"acme/runs:all"})),
            "acme",
            False,
            id="no account",
        ),
    ],
)
def test_a_scope_holds_for_one_tenant_and_for_operators_in_all(
    principal: Principal, tenant: str, has: bool
) -> None:
    assert principal.has_scope_in(tenant, "runs:all") is has

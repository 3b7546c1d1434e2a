"""What the roles of an account allow."""

import pytest
from tests.access.made import a_spec

from pegboard.access import Policy, Switches, decide, explain
from pegboard.access.roles import explain_missing_role
from pegboard.core.decision import Action, Verdict
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


def an_account(*roles: str, scopes: frozenset[str] = frozenset()) -> Principal:
    return Principal(id="u_1", user="u_1", roles=frozenset(roles), scopes=scopes)


@pytest.mark.parametrize(
    ("principal", "verdicts"),
    [
        (an_account("acme/member"), (ALLOW, DENY, DENY)),
        (an_account("acme/administrator"), (ALLOW, DENY, DENY)),
        (an_account("acme/editor"), (ALLOW, ALLOW, ASK)),
        (an_account("acme/approver"), (DENY, DENY, DENY)),
        (an_account("acme/approver", "shop/member"), (ALLOW, DENY, DENY)),
        (an_account("acme/member", "shop/editor"), (ALLOW, ALLOW, ASK)),
        (an_account(), (DENY, DENY, DENY)),
        (an_account(scopes=frozenset({"*"})), (ALLOW, ALLOW, ASK)),
        (an_account(scopes=frozenset({"operator"})), (ALLOW, ALLOW, ASK)),
        (LOCAL, (ALLOW, ALLOW, ASK)),
        (Principal(id="ada"), (ALLOW, ALLOW, ASK)),
    ],
    ids=[
        "member",
        "administrator",
        "editor",
        "approver",
        "approver and member",
        "editor elsewhere",
        "no role",
        "every scope",
        "operator",
        "the owner of the process",
        "no account",
    ],
)
@pytest.mark.parametrize("action", Action)
def test_a_role_decides_what_an_account_lists_and_calls(
    principal: Principal, verdicts: tuple[Verdict, ...], action: Action
) -> None:
    found = [
        decide(
            principal, a_spec(effect=effect), action, policy=Policy(), switches=Switches()
        ).verdict
        for effect in Effect
    ]

    listed = [ALLOW if verdict is ASK else verdict for verdict in verdicts]
    assert found == (list(verdicts) if action is Action.CALL else listed)


LEVELS = (("acme/crm", "admin"), ("acme/shop", "read"), ("acme/shop__re*", "write"))


@pytest.mark.parametrize(
    ("name", "source", "verdicts"),
    [
        ("shop__find", "shop", (ALLOW, DENY, DENY)),
        ("shop__refund", "shop", (ALLOW, ALLOW, DENY)),
        ("crm__find", "crm", (ALLOW, ALLOW, ASK)),
        ("erp__find", "erp", (DENY, DENY, DENY)),
    ],
    ids=["read by source", "write by pattern", "admin asks", "no level"],
)
def test_the_strongest_level_of_own_roles_decides_for_a_source_or_pattern(
    name: str, source: str, verdicts: tuple[Verdict, ...]
) -> None:
    caller = Principal(id="u", user="u", roles=frozenset({"acme/support"}), levels=LEVELS)

    found = [
        decide(
            caller,
            a_spec(name, source=source, effect=effect),
            Action.CALL,
            policy=Policy(),
            switches=Switches(),
        ).verdict
        for effect in Effect
    ]

    assert found == list(verdicts)


def test_a_level_without_an_organisation_gives_nothing() -> None:
    caller = Principal(id="u", user="u", levels=(("shop", "admin"), ("", "admin")))

    assert explain_missing_role(caller, a_spec(source="shop"))
    assert explain_missing_role(caller, a_spec("clean", source=""))


def test_a_missing_level_is_explained() -> None:
    caller = Principal(id="u", user="u", levels=LEVELS)

    assert explain_missing_role(caller, a_spec("erp__find", source="erp")) == (
        "calls need a role in an organisation that reads for 'erp'"
    )
    assert explain_missing_role(caller, a_spec(effect=Effect.WRITE)) == (
        "a tool that may change something needs the role editor, or a role with the level write "
        "for 'shop'"
    )


def test_the_policy_holds_for_every_role() -> None:
    decision = decide(
        an_account("acme/editor"),
        a_spec(),
        Action.CALL,
        policy=Policy(deny=("*",)),
        switches=Switches(),
    )

    assert decision.rule == "policy.deny[0]"


def test_a_missing_role_is_explained() -> None:
    member, spec = an_account("acme/member"), a_spec(effect=Effect.WRITE)

    told = explain(member, spec, policy=Policy(allow=("*",)), switches=Switches())

    reason = "a tool that may change something needs the role editor"
    assert explain_missing_role(member, spec) == reason
    assert ("roles", f"deny: {reason}") in told.checks
    assert (told.call.rule, told.visible) == ("roles", False)

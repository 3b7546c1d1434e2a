"""Who may see a stored resource, and the tools of a connector."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.storage.test_resources import a_resource

from pegboard.access import Policy, Switches, decide, explain
from pegboard.access.decide import HIDDEN
from pegboard.access.namesakes import Namesakes
from pegboard.access.policy import CallRule
from pegboard.access.visibility import ResourceIndex, find_owner, resolve_visibility
from pegboard.core.decision import Action, Verdict
from pegboard.core.ports.accounts.resource_store import StoredResource, Subscription
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect, ToolSpec

ADA = Principal(id="u1", user="u1", tenant="acme", organisations=frozenset({"acme"}))
BOB = Principal(id="u2", user="u2", tenant="acme", organisations=frozenset({"acme"}))
EVE = Principal(id="u3", user="u3", tenant="zoo", organisations=frozenset({"zoo"}))
OPERATOR = Principal(id="u4", user="u4", scopes=frozenset({"*"}))
TOOL = ToolSpec(
    name="ada--github__list",
    source="ada--github",
    effect=Effect.WRITE,
    input_schema={"type": "object"},
)
SHARED = {"organisation": "acme", "visibility": "organisation"}


def bind(policy: Policy, *resources: StoredResource, subscribed: str = "") -> Policy:
    index = ResourceIndex()
    users = [Subscription(resource="r1", user=subscribed)] if subscribed else []
    index.use(resources, users)
    return policy.bind(Namesakes(), resources=index)


@pytest.mark.parametrize(
    ("changes", "caller", "kind"),
    [
        ({}, ADA, "own"),
        ({}, BOB, "none"),
        ({}, OPERATOR, "none"),
        ({}, LOCAL, "unrestricted"),
        (SHARED, BOB, "organisation"),
        (SHARED, EVE, "none"),
        (SHARED | {"publish_status": "pending"}, BOB, "none"),
        (SHARED | {"publish_status": "approved"}, BOB, "organisation"),
        ({"visibility": "global"}, EVE, "global"),
    ],
)
def test_a_resource_is_visible_to_its_owner_and_where_it_is_shared(
    changes: dict[str, Any], caller: Principal, kind: str
) -> None:
    found = resolve_visibility(caller, a_resource(**changes), is_subscribed=False)
    assert (found.kind, found.is_visible) == (kind, kind != "none")


@pytest.mark.parametrize(
    ("status", "kind"), [("approved", "subscribed"), ("pending", "none"), ("none", "none")]
)
def test_a_subscriber_sees_what_is_approved(status: Any, kind: str) -> None:
    resource = a_resource(**SHARED, publish_status=status)
    assert resolve_visibility(EVE, resource, is_subscribed=True).kind == kind


def test_the_tools_of_a_hidden_source_are_denied_before_all_else() -> None:
    switches, policy = Switches(), bind(Policy(), a_resource())
    switches.turn_off(writes=True)

    denied = decide(BOB, TOOL, Action.CALL, policy=policy, switches=switches)
    assert (denied.verdict, denied.rule) == (Verdict.DENY, HIDDEN)
    checks = explain(BOB, TOOL, policy=policy, switches=switches).checks
    assert checks[0] == ("visibility", "deny: it is private to its owner")


def test_ones_own_tools_need_no_role() -> None:
    policy, switches = bind(Policy(), a_resource()), Switches()
    assert decide(ADA, TOOL, Action.CALL, policy=policy, switches=switches).allowed
    shared = bind(Policy(), a_resource(**SHARED))
    assert decide(BOB, TOOL, Action.CALL, policy=shared, switches=switches).rule == "roles"


def test_a_source_whose_row_is_gone_is_hidden_from_people() -> None:
    index = ResourceIndex()
    assert index.hides(ADA, "ada--github")
    assert not index.hides(LOCAL, "ada--github")
    assert not index.hides(ADA, "github")


def test_an_allow_covers_the_tools_of_others_only_where_it_names_them() -> None:
    admin = TOOL.replace(effect=Effect.ADMIN)
    operators = admin.replace(name="github__list", source="github")

    def judge(tool: ToolSpec, **rules: Any) -> Verdict:
        return bind(Policy(**rules)).decide(tool).verdict

    assert judge(operators, allow=("*__list",)) is Verdict.ALLOW
    assert judge(admin, allow=("*__list",)) is Verdict.ASK
    assert judge(admin, allow=("ada--*",)) is Verdict.ALLOW
    assert judge(admin, allow=("bob--*",)) is Verdict.ASK
    assert judge(admin, deny=("*__list",)) is Verdict.DENY


def test_a_rule_that_allows_covers_the_tools_of_others_only_where_it_names_them() -> None:
    admin = TOOL.replace(effect=Effect.ADMIN)

    def judge(when: str, then: Any = "allow") -> Verdict:
        return bind(Policy(rules=(CallRule(when=when, then=then),))).decide(admin).verdict

    assert judge("tool.effect == 'admin'") is Verdict.ASK
    assert judge("tool.source == 'ada--github'") is Verdict.ALLOW
    assert judge("tool.effect == 'admin'", "deny") is Verdict.DENY


@pytest.mark.parametrize(
    ("source", "owner"), [("ada--github", "ada"), ("github", ""), ("my-crm", "")]
)
def test_the_owner_of_a_source_stands_before_its_name(source: str, owner: str) -> None:
    assert find_owner(source) == owner


@pytest.mark.parametrize(
    ("changes", "roles", "levels", "verdict"),
    [
        (SHARED, {"acme/editor", "zoo/member"}, (), Verdict.ALLOW),
        (SHARED, {"acme/member", "zoo/editor"}, (), Verdict.DENY),
        (SHARED, {"acme/approver"}, (("zoo/*", "write"),), Verdict.DENY),
        (SHARED, {"acme/approver"}, (("acme/*", "write"),), Verdict.ALLOW),
        ({"visibility": "global"}, {"zoo/editor"}, (), Verdict.ALLOW),
    ],
    ids=["editor there", "editor elsewhere", "level elsewhere", "level there", "of operators"],
)
def test_a_role_of_one_organisation_gives_nothing_in_what_another_shares(
    changes: dict[str, Any],
    roles: set[str],
    levels: tuple[tuple[str, str], ...],
    verdict: Verdict,
) -> None:
    both = frozenset({"acme", "zoo"})
    caller = Principal(
        id="u9", user="u9", roles=frozenset(roles), levels=levels, organisations=both
    )
    decision = decide(
        caller,
        TOOL,
        Action.CALL,
        policy=bind(Policy(), a_resource(name="ada--github", **changes)),
        switches=Switches(),
    )

    assert decision.verdict is verdict
    assert (decision.rule == "roles") is (verdict is Verdict.DENY)


ACCOUNTS = st.sampled_from(["u1", "u2", "u3"])
HANDLES = st.sampled_from(["acme", "zoo"])
CALLERS = st.builds(
    lambda user, handles: Principal(id=user, user=user, organisations=handles),
    ACCOUNTS,
    st.frozensets(HANDLES),
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "owner": ACCOUNTS,
            "kind": st.sampled_from(["connector", "skill", "model", "agent"]),
            "organisation": st.just("") | HANDLES,
            "visibility": st.sampled_from(["private", "organisation", "global"]),
            "publish_status": st.sampled_from(["none", "pending", "approved", "rejected"]),
        }
    ),
    max_size=6,
)


@given(ROWS, CALLERS, st.sets(st.integers(0, 5)), st.booleans())
def test_the_listed_sources_are_those_that_are_not_hidden(
    rows: list[dict[str, Any]], caller: Principal, subscribed: set[int], is_required: bool
) -> None:
    index = ResourceIndex()
    made = [a_resource(**row, id=f"r{at}", name=f"ada--s{at}") for at, row in enumerate(rows)]
    index.use(made, [Subscription(resource=f"r{at}", user=caller.user) for at in subscribed])
    if is_required:
        index.require("bases", "agent")
    names = {"plain", "bases", "gone--shop", *(row.name for row in made)}

    listed = set(index.list_sources(caller))
    visible = {name for name in names if not index.hides(caller, name)}
    assert {name for name in names if index.is_open(name)} | (listed & names) == visible

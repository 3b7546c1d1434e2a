"""What would let a caller in: for each check that refuses, the shortest changes that lift it."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from pegboard.access.key_scopes import READ_SCOPE, WRITE_SCOPE
from pegboard.access.policy import Policy
from pegboard.access.roles import EDITOR, MEMBER
from pegboard.access.visibility import SHARED_STATUSES
from pegboard.core.decision import Decision, Verdict
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, ToolSpec

RemedyKind = Literal[
    "join_organisation",
    "install",
    "share",
    "review",
    "switch",
    "wait",
    "role",
    "scope",
    "key_scope",
    "policy",
    "quota",
    "approval",
]


class Remedy(Struct, frozen=True, kw_only=True):
    """A change that lifts one refusal.

    Attributes:
        text: What happens or is done, as a clause without a full stop.
    """

    kind: RemedyKind
    text: str


class RemedyStep(Struct, frozen=True, kw_only=True):
    """A check that refuses or asks, and what lifts that; all steps are needed.

    Attributes:
        check: The check, as an explanation names it.
        any_of: Each of these is enough.
    """

    check: str
    any_of: tuple[Remedy, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        return {
            "check": self.check,
            "any_of": [{"kind": item.kind, "text": item.text} for item in self.any_of],
        }


def find_remedies(
    principal: Principal,
    tool: ToolSpec,
    refused: Iterable[str],
    *,
    standing: Decision,
    policy: Policy,
) -> Iterator[RemedyStep]:
    """What would let a caller in, for somebody who may see the tool.

    Args:
        principal: The caller.
        tool: The tool.
        refused: The checks before the policy that refuse, in order.
        standing: What the policy decides about the call.
        policy: The rules of the board.
    """
    resource = policy.resource_index.find_source(tool.source)
    for check in refused:
        yield RemedyStep(
            check=check, any_of=tuple(_find_alternatives(check, principal, tool, resource))
        )
    if standing.verdict is Verdict.DENY:
        text = f"the operator changes the policy ({standing.rule})"
        yield RemedyStep(check="policy", any_of=(Remedy(kind="policy", text=text),))
    elif standing.verdict is Verdict.ASK:
        who = "a person other than the caller" if standing.by else "an approver"
        remedies = (Remedy(kind="approval", text=f"{who} approves the call"),)
        yield RemedyStep(check="policy", any_of=remedies)


def _find_alternatives(
    check: str, principal: Principal, tool: ToolSpec, resource: StoredResource | None
) -> Iterator[Remedy]:
    match check:
        case "visibility":
            yield from _make_visible(resource)
        case "kill switches":
            yield Remedy(kind="switch", text="an operator turns it on again")
        case "status":
            yield Remedy(kind="switch", text="a maintainer of the catalogue makes it active")
        case "availability":
            yield Remedy(kind="wait", text="its source becomes available")
        case "scopes":
            missing = [scope for scope in tool.scopes if not principal.has_scope(scope)]
            yield Remedy(kind="scope", text=f"the caller gets the scope {', '.join(missing)}")
        case "roles":
            yield from _give_role(principal, tool, resource)
        case "key":
            scope = READ_SCOPE if tool.effect is Effect.READ else WRITE_SCOPE
            yield Remedy(kind="key_scope", text=f"a key with the scope {scope}")
        case _:
            pass


def _make_visible(resource: StoredResource | None) -> Iterator[Remedy]:
    if resource is None:
        return
    name = resource.organisation
    is_shared = resource.visibility == "organisation"
    if is_shared and resource.publish_status in SHARED_STATUSES:
        yield Remedy(kind="join_organisation", text=f"the caller joins the organisation '{name}'")
    elif is_shared:
        yield Remedy(kind="review", text=f"an administrator of '{name}' approves it")
    if is_shared and resource.publish_status == "approved":
        yield Remedy(kind="install", text="the caller installs it from the market")
    if not is_shared:
        yield Remedy(kind="share", text="its owner shares it with an organisation of the caller")


def _give_role(
    principal: Principal, tool: ToolSpec, resource: StoredResource | None
) -> Iterator[Remedy]:
    where = "an organisation of the caller"
    if resource is not None and resource.organisation in principal.organisations:
        where = f"'{resource.organisation}'"
    role = MEMBER if tool.effect is Effect.READ else EDITOR
    yield Remedy(kind="role", text=f"the role {role} in {where}")
    level = f"the level {tool.effect.value} for '{tool.source or tool.name}'"
    yield Remedy(kind="role", text=f"a role of {where} with {level}")

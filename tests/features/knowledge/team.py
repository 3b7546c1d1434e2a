"""Two operators and a reader, and a base that all of them see and the operators change."""

from dataclasses import dataclass

from pegboard import Pegboard
from pegboard.core.ports.accounts.identity_store import NewIdentity, User
from pegboard.core.principal import Principal
from pegboard.features.knowledge import NewBase
from pegboard.features.knowledge.bases import KnowledgeBase


@dataclass(frozen=True, kw_only=True)
class Team:
    """Ada and Bob, who are operators, and Eve, who reads."""

    ada: Principal
    bob: Principal
    eve: Principal
    base: KnowledgeBase


async def make_team(board: Pegboard) -> Team:
    """The team of a board without accounts."""
    ada = await _add(board, "u_ada", is_operator=True)
    new = NewBase(name="shared", visibility="global")
    return Team(
        ada=ada,
        bob=await _add(board, "u_bob", is_operator=True),
        eve=await _add(board, "u_eve", is_operator=False),
        base=await board.knowledge.add_base(new, principal=ada),
    )


async def _add(board: Pegboard, user: str, *, is_operator: bool) -> Principal:
    handle = user.removeprefix("u_")
    account = User(id=user, handle=handle, name=handle, created_at=0.0, is_operator=is_operator)
    await board._open.storage.identity.add(NewIdentity(at=0.0, user=account))
    known = await board.identity.callers.name_now(Principal(id=user, user=user))
    return Principal(
        id=user, user=user, scopes=known.scopes, organisations=frozenset({"acme"}), kind=known.kind
    )

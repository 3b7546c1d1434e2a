"""What the roles of an account allow: to read, to write, or to call nothing."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

from pegboard.access.namesakes import names_of
from pegboard.core.ports.accounts.identity_store import Membership, User
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, ToolSpec

ADMINISTRATOR = "administrator"
APPROVER = "approver"
EDITOR = "editor"
MEMBER = "member"
ROLES = (ADMINISTRATOR, APPROVER, EDITOR, MEMBER)
"""The roles that each organisation has; others it defines itself, by levels."""

LEVELS: Mapping[str, Effect] = MappingProxyType({effect.value: effect for effect in Effect})
"""The strongest effect of the tools that a level allows to call; the policy decides after it."""

LAST_OPERATOR = "It is the last operator: name another one first."
LAST_ADMINISTRATOR = "It is the last administrator of the organisation: name another one first."

_WRITING = frozenset({EDITOR})
_READING = frozenset({ADMINISTRATOR, EDITOR, MEMBER})


def explain_missing_role(principal: Principal, tool: ToolSpec, organisation: str = "") -> str:
    """Why an account may not call a tool by its roles; empty if it may.

    Operators need no role. A caller without an account has none, and is not restricted by them.

    Args:
        principal: The caller.
        tool: The tool.
        organisation: That shares the source of the tool with the caller: its roles alone count.
            Empty for a source of operators, and for one that the caller has installed.
    """
    if not principal.user or principal.is_operator:
        return ""
    named = [role.rpartition("/") for role in principal.roles]
    names = {name for where, _, name in named if organisation in {"", where}}
    if names & (_READING if tool.effect is Effect.READ else _WRITING):
        return ""
    level = find_level(principal, tool, organisation)
    if level is not None and level.strength >= tool.effect.strength:
        return ""
    where = f" for '{tool.source or tool.name}'" if principal.levels else ""
    place = f" in '{organisation}'" if organisation else ""
    if tool.effect is Effect.READ:
        return f"calls need a role{place or ' in an organisation'} that reads{where}"
    own = f", or a role with the level {tool.effect.value}{where}" if where else ""
    return f"a tool that may change something needs the role {EDITOR}{place}{own}"


def find_level(principal: Principal, tool: ToolSpec, organisation: str = "") -> Effect | None:
    """The strongest level that the own roles of organisations give for a tool; None for none.

    A level names a source, or a glob over the names of tools.

    Args:
        principal: The caller.
        tool: The tool.
        organisation: Whose roles count; empty for those of all.
    """
    split = [(*item.partition("/"), level) for item, level in principal.levels]
    found = [
        LEVELS[level]
        for where, mark, pattern, level in split
        if mark
        and organisation in {"", where}
        and (pattern == tool.source or any(fnmatchcase(name, pattern) for name in names_of(tool)))
    ]
    return max(found, key=lambda effect: effect.strength, default=None)


def is_last_administrator(members: Iterable[Membership], user: str) -> bool:
    """Whether a person is the only administrator among the members of an organisation."""
    found = [it.user for it in members if it.state == "approved" and ADMINISTRATOR in it.roles]
    return found == [user]


def is_last_operator(users: Iterable[User], user: str) -> bool:
    """Whether a person is the only operator of the server who may sign in."""
    return [it.id for it in users if it.is_operator and it.disabled_at is None] == [user]

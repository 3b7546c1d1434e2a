"""What the roles of an account allow: to read, to write, or to call nothing."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

from pegboard.access.namesakes import names_of
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

_WRITING = frozenset({EDITOR})
_READING = frozenset({ADMINISTRATOR, EDITOR, MEMBER})


def explain_missing_role(principal: Principal, tool: ToolSpec) -> str:
    """Why an account may not call a tool by its roles; empty if it may.

    Operators need no role. A caller without an account has none, and is not restricted by them.
    """
    if not principal.user or principal.is_operator:
        return ""
    names = {role.rpartition("/")[2] for role in principal.roles}
    if names & (_READING if tool.effect is Effect.READ else _WRITING):
        return ""
    level = find_level(principal, tool)
    if level is not None and level.strength >= tool.effect.strength:
        return ""
    where = f" for '{tool.source or tool.name}'" if principal.levels else ""
    if tool.effect is Effect.READ:
        return f"calls need a role in an organisation that reads{where}"
    own = f", or a role with the level {tool.effect.value}{where}" if where else ""
    return f"a tool that may change something needs the role {EDITOR}{own}"


def find_level(principal: Principal, tool: ToolSpec) -> Effect | None:
    """The strongest level that the own roles of organisations give for a tool; None for none.

    A level names a source, or a glob over the names of tools.
    """
    found = [
        LEVELS[level]
        for pattern, level in principal.levels
        if pattern == tool.source or any(fnmatchcase(name, pattern) for name in names_of(tool))
    ]
    return max(found, key=lambda effect: effect.strength, default=None)

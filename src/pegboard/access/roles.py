"""What the roles of an account allow: to read, to write, or to call nothing."""

from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, ToolSpec

ADMINISTRATOR = "administrator"
APPROVER = "approver"
EDITOR = "editor"
MEMBER = "member"
ROLES = (ADMINISTRATOR, APPROVER, EDITOR, MEMBER)
"""The roles that an organisation has."""

_WRITING = frozenset({EDITOR})
_READING = frozenset({ADMINISTRATOR, EDITOR, MEMBER})


def explain_missing_role(principal: Principal, tool: ToolSpec) -> str:
    """Why an account may not call a tool by its roles; empty if it may.

    Operators need no role. A caller without an account has none, and is not restricted by them.
    """
    if not principal.user or principal.is_operator:
        return ""
    names = {role.rpartition("/")[2] for role in principal.roles}
    if tool.effect is Effect.READ:
        return "" if names & _READING else "calls need a role in an organisation that reads"
    return "" if names & _WRITING else f"a tool that may change something needs the role {EDITOR}"

"""Who may turn something off and on."""

from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied

SCOPE = "switches:write"
"""Whoever has this scope sees the kill switches and throws them, for all callers of the board."""


def check_may_switch(principal: Principal) -> None:
    """Let nobody else look or decide: a scope of its own, for people who are on call.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    if not principal.has_scope(SCOPE):
        raise AccessDenied("the kill switches", f"the caller lacks the scope {SCOPE}")

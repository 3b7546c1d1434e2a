"""Who may change what a board offers."""

from pegboard.access import LOOKS_AFTER
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied

SCOPE = LOOKS_AFTER
"""Whoever has this scope registers, removes and rolls back tools, and approves definitions."""


def check_may_change(principal: Principal, subject: str) -> None:
    """Let nobody else change the catalogue.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    if not principal.has_scope(SCOPE):
        raise AccessDenied(subject, f"the caller lacks the scope {SCOPE}")

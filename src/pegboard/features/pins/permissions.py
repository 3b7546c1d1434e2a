"""Who may see and approve definitions of upstreams."""

from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied
from pegboard.features.catalogue.permissions import SCOPE


def check_may_approve(principal: Principal, subject: str) -> None:
    """Let nobody else look or decide: who writes the catalogue says what is in it.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    if not principal.has_scope(SCOPE):
        raise AccessDenied(subject, f"the caller lacks the scope {SCOPE}")

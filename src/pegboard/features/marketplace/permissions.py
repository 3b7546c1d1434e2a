"""Who may look at marketplaces, and add what they offer."""

from pegboard.core.principal import Principal
from pegboard.features.catalogue.permissions import check_may_change


def check_may_look(principal: Principal) -> None:
    """Let nobody look who may not add: looking sends requests with what the operator has given.

    Raises:
        AccessDenied: The caller may not change the catalogue.
    """
    check_may_change(principal, "the marketplaces")

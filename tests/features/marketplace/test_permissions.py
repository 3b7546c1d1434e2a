"""Who may look."""

import pytest

from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.marketplace.permissions import check_may_look


def test_whoever_may_add_may_look_and_nobody_else() -> None:
    check_may_look(LOCAL)
    check_may_look(Principal(id="ann", scopes=frozenset({"catalogue:write"})))
    with pytest.raises(AccessDenied):
        check_may_look(Principal(id="bob"))

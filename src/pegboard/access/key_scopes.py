"""What the scopes of a key allow of tools: to read, or to read and write."""

from pegboard.core.principal import Principal
from pegboard.core.tool import Effect

READ_SCOPE = "tools:read"
"""Call tools that read."""

WRITE_SCOPE = "tools:write"
"""Call tools that read and tools that may change something."""


def explain_missing_key_scope(principal: Principal, effect: Effect) -> str:
    """Why a caller may not do something of this effect by the scopes of its key; empty if it may.

    A key without limits has what the roles of its account give.
    """
    if not principal.key or principal.is_operator:
        return ""
    needed = {READ_SCOPE, WRITE_SCOPE} if effect is Effect.READ else {WRITE_SCOPE}
    if any(scope.rpartition("/")[2] in needed for scope in principal.scopes):
        return ""
    name = READ_SCOPE if effect is Effect.READ else WRITE_SCOPE
    return f"the key lacks the scope {name}"

"""`Principal`: the caller."""

from msgspec import Struct


class Principal(Struct, frozen=True, kw_only=True):
    """The caller of a tool.

    Attributes:
        id: Stable and unique within the tenant; what a record names.
        scopes: The scopes of its token; `*` means all.
        roles: Its roles in the organisation.
    """

    id: str
    kind: str = "user"
    tenant: str = ""
    scopes: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()

    def has_scope(self, scope: str) -> bool:
        """Whether the token carries this scope."""
        return scope in self.scopes or "*" in self.scopes

    @property
    def owner(self) -> str:
        """`tenant/id`: the owner of stored results and idempotency keys, unique among principals.

        A slash in the tenant's own name is escaped.
        """
        tenant = self.tenant
        if "/" in tenant or "%" in tenant:
            tenant = tenant.replace("%", "%25").replace("/", "%2F")
        return f"{tenant}/{self.id}"


LOCAL = Principal(id="local", kind="local", scopes=frozenset({"*"}))
"""The owner of the process: the caller in the library, the command line and a local server."""

"""`Principal`: the caller."""

from msgspec import Struct

OPERATOR_SCOPE = "operator"
"""The scope of operators, who see and change what belongs to every tenant; `*` has it too."""


class Principal(Struct, frozen=True, kw_only=True):
    """The caller of a tool.

    Attributes:
        id: Stable and unique within the tenant; what a record names.
        tenant: Whose behalf it acts on: the handle of an organisation for an account.
        scopes: The scopes of its token; `*` means all. Those that an account has in one
            organisation alone are written `organisation/scope`, and those of its key for what it
            owns itself `/scope`.
        roles: Its roles; of an account as `organisation/role`.
        levels: What own roles of organisations allow: `organisation/pattern`, where the pattern is
            a source or a glob, and `read`, `write` or `admin`.
        user: The id of its account, unique on the server; empty for a caller without one. What an
            account owns stays its own, whichever organisation it acts for.
        organisations: The organisations of its account, by handle.
        key: The id of the key that it has sent; empty for a session, and without an account.
    """

    id: str
    kind: str = "user"
    tenant: str = ""
    scopes: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    levels: tuple[tuple[str, str], ...] = ()
    user: str = ""
    organisations: frozenset[str] = frozenset()
    key: str = ""

    def has_scope(self, scope: str) -> bool:
        """Whether the token carries this scope."""
        return scope in self.scopes or "*" in self.scopes

    def has_scope_in(self, tenant: str, scope: str) -> bool:
        """Whether it has a scope for what belongs to a tenant; operators have it for each."""
        if self.is_operator or (self.user and f"{tenant}/{scope}" in self.scopes):
            return True
        return tenant == self.tenant and self.has_scope(scope)

    @property
    def is_operator(self) -> bool:
        """Whether it sees and changes what belongs to every tenant."""
        return self.has_scope(OPERATOR_SCOPE)

    def owns(self, tenant: str, name: str) -> bool:
        """Whether something of this owner, stored as tenant and id, is its own."""
        if self.user:
            return name in expand_id(self.user)
        return tenant == self.tenant and name in expand_id(self.id)

    @property
    def owner(self) -> str:
        """`tenant/id`: the owner of stored results and idempotency keys, unique among principals.

        A slash in the tenant's own name is escaped. The tenant of an account is left out.
        """
        if self.user:
            return f"/{self.user}"
        tenant = self.tenant
        if "/" in tenant or "%" in tenant:
            tenant = tenant.replace("%", "%25").replace("/", "%2F")
        return f"{tenant}/{self.id}"


LOCAL = Principal(id="local", kind="local", scopes=frozenset({"*"}))
"""The owner of the process: the caller in the library, the command line and a local server."""

_EXPANDED = {"local": ("local", "token")}


def expand_id(name: str) -> tuple[str, ...]:
    """The ids under which rows of a principal are stored.

    A caller with the server's token was stored as `token` once, and is `local`.
    """
    return _EXPANDED.get(name) or (name,)


def expand_owner(owner: str) -> tuple[str, ...]:
    """The same for an owner, `tenant/id`."""
    tenant, _, name = owner.rpartition("/")
    return (owner,) if tenant else tuple(f"/{item}" for item in expand_id(name))

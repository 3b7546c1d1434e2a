"""A session acts with one account of one caller, and ends when that has another value."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.credential import CallCredential, Credential, Secret
from pegboard.core.principal import Principal
from pegboard.errors import CredentialMissing, MCPConnectionError, SourceUnavailable
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.session.accounts import SessionAccounts, find_missing_account
from pegboard.sources.mcp.session.pool import OPERATOR
from pegboard.sources.mcp.transport.transports import Link

ADA, BOB = Principal(id="ada", user="ada"), Principal(id="bob", user="bob")
ABOUT = Credential(id="c1", owner="ada", source="crm", name="work", kind="oauth2", created_at=0)


class Use:
    """A credential that is never refused."""

    def __init__(self, about: Credential) -> None:
        self.about = about

    async def reveal(self) -> Secret:
        return Secret(access_token=f"token of {self.about.id}")

    async def renew(self, refused: Secret) -> Secret | None:
        return refused

    async def give_up(self) -> None: ...

    async def extend(self, scopes: Sequence[str]) -> None: ...


class Vault:
    """Has an account for some callers."""

    def __init__(self) -> None:
        self.of: dict[str, Use] = {}

    async def use(self, source: str, *, principal: Principal | None) -> CallCredential:
        found = self.of.get("" if principal is None else principal.id)
        if found is None:
            raise CredentialMissing(source, "nobody has connected it", link="https://b.example/c")
        return found


@pytest.fixture
def vault() -> Vault:
    return Vault()


@pytest.fixture
def accounts(vault: Vault) -> SessionAccounts:
    config = McpConfig.model_validate({"url": "https://crm.example/mcp", "auth": {"kind": "oauth"}})
    link = Link(name="crm", config=config, http=None, base_dir=Path(), credentials=vault)
    return SessionAccounts(link)


def a_call(principal: Principal = ADA, **changes: int) -> ToolContext[None]:
    return ToolContext(principal=principal, credential=Use(structs.replace(ABOUT, **changes)))


async def test_callers_and_values_have_sessions_of_their_own(accounts: SessionAccounts) -> None:
    first, ended = await accounts.find_key(a_call())
    same, _ = await accounts.find_key(a_call())
    shared, _ = await accounts.find_key(a_call(BOB))  # the same credential, of another caller
    renewed, old = await accounts.find_key(a_call(version=2))

    assert first == same
    assert len({first, shared, renewed}) == 3
    assert (ended, old) == ([], [first])


async def test_a_session_sends_what_its_last_call_has(accounts: SessionAccounts) -> None:
    key, _ = await accounts.find_key(a_call())
    find = accounts.finder(key)
    assert find is not None
    before = find()
    await accounts.find_key(a_call())

    assert find() is not before
    accounts.forget(key)
    assert find() is before


async def test_a_resource_is_read_with_the_account_of_its_reader(
    accounts: SessionAccounts, vault: Vault
) -> None:
    with pytest.raises(CredentialMissing):
        await accounts.find_key(ToolContext(principal=BOB))
    vault.of["bob"] = Use(structs.replace(ABOUT, id="c2", owner="bob"))

    key, _ = await accounts.find_key(ToolContext(principal=BOB))

    assert "c2" in key


async def test_the_board_lists_anew_with_another_account(
    accounts: SessionAccounts, vault: Vault
) -> None:
    with pytest.raises(SourceUnavailable, match="Connect one at https://b"):
        await accounts.change_listing()
    found: list[bool] = []
    for version in (1, 1, 2):
        vault.of[""] = Use(structs.replace(ABOUT, version=version))
        found.append(await accounts.change_listing())
    accounts.forget(OPERATOR)

    assert found == [False, False, True]
    assert accounts.finder(OPERATOR) is not None


def test_the_missing_account_is_found_behind_an_error() -> None:
    missing = CredentialMissing("crm__find", "it has ended")
    outer = MCPConnectionError("no session")
    outer.__cause__ = missing

    assert find_missing_account(outer) is missing
    assert find_missing_account(MCPConnectionError("no session")) is None

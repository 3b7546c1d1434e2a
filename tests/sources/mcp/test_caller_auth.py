"""A server with a login takes the accounts of its callers."""

from pegboard.core.ports.accounts.credentials import CallerAuth, OAuthSettings
from pegboard.sources.mcp.caller_auth import read_caller_auth
from pegboard.sources.mcp.config import McpConfig

URL = "https://crm.example/mcp"


def test_a_server_with_a_login_takes_accounts_that_are_connected() -> None:
    auth = {"kind": "oauth", "client_id": "c", "client_secret": "s", "scopes": ["read"]}
    found = read_caller_auth(McpConfig.model_validate({"url": URL, "auth": auth}))

    settings = OAuthSettings(server=URL, client_id="c", client_secret="s", scopes=("read",))
    assert found == CallerAuth(kinds=("oauth2",), oauth=settings)


def test_other_servers_take_nothing_of_their_callers() -> None:
    bearer = {"url": URL, "auth": {"kind": "bearer", "token": "t"}}

    assert read_caller_auth(McpConfig.model_validate(bearer)) is None
    assert read_caller_auth(McpConfig.model_validate({"command": "server"})) is None
    assert read_caller_auth(None) is None

"""What an MCP server takes from its callers, as its configuration says."""

from pegboard.core.ports.accounts.credentials import CallerAuth, OAuthSettings
from pegboard.sources.mcp.config import McpConfig, OAuthAccess


def read_caller_auth(config: object) -> CallerAuth | None:
    """What its callers bring: an account that they connect by consent; None without a login."""
    if not isinstance(config, McpConfig) or not isinstance(config.auth, OAuthAccess):
        return None
    access = config.auth
    secret = access.client_secret
    settings = OAuthSettings(
        server=config.url,
        client_id=access.client_id or access.client_url,
        client_secret="" if secret is None else secret.get_secret_value(),
        scopes=access.scopes,
    )
    return CallerAuth(kinds=("oauth2",), oauth=settings)

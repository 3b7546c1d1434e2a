"""What an API takes from its callers, as its configuration says."""

from pegboard.core.credential import CredentialKind
from pegboard.core.ports.accounts.credentials import CallerAuth, OAuthSettings
from pegboard.sources.openapi.auth import CallerCredential, OAuthConfig
from pegboard.sources.openapi.config import OpenApiConfig


def read_caller_auth(config: OpenApiConfig) -> CallerAuth | None:
    """What its callers bring; None where the board has the credentials, or there are none."""
    found = next((item for item in config.auth if isinstance(item, CallerCredential)), None)
    if found is None:
        return None
    if found.sends != "bearer":
        return CallerAuth(kinds=(found.sends,))
    kinds: list[CredentialKind] = ["bearer"]
    if found.oauth is None:
        return CallerAuth(kinds=tuple(kinds))
    if found.oauth.authorization_url:
        kinds.insert(0, "oauth2")
    else:
        kinds.insert(0, "oauth2_client")
    return CallerAuth(kinds=tuple(kinds), oauth=_settings(found.oauth))


def _settings(given: OAuthConfig) -> OAuthSettings:
    secret = given.client_secret
    return OAuthSettings(
        token_url=given.token_url,
        authorization_url=given.authorization_url,
        client_id=given.client_id,
        client_secret="" if secret is None else secret.get_secret_value(),
        scopes=given.scopes,
        issuer=given.issuer,
        userinfo_url=given.userinfo_url,
    )

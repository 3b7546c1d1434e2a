"""The settings of signing in: identity providers, OAuth clients and passwords."""

from ipaddress import ip_network
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class AccountSettings(BaseModel):
    """The settings that matter once a server has accounts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    oauth_registration: Annotated[
        bool,
        Field(
            description="Whether MCP clients may register themselves; else they need an address "
            "that describes them."
        ),
    ] = False
    oidc_issuer: Annotated[
        str,
        Field(
            description="The identity provider where people sign in (OpenID Connect), as "
            "`https://id.example`; its callback is `PUBLIC_URL/v1/session/oidc/callback`."
        ),
    ] = ""
    oidc_client_id: Annotated[str, Field(description="The id of this server there.")] = ""
    oidc_client_secret: Annotated[
        SecretStr | None, Field(description="Its secret there, for a confidential client.")
    ] = None
    oidc_domains: Annotated[
        str,
        Field(
            description="Domains of verified e-mail addresses whose people may make an account, "
            "separated by commas; by default any."
        ),
    ] = ""
    oidc_organisation: Annotated[
        str,
        Field(
            description="The organisation that people without an account ask to join when they "
            "sign in there; by default they cannot sign in."
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        Field(
            description="The reverse proxies in front of the server, as addresses or networks "
            "separated by commas (`127.0.0.1, 10.0.0.0/8`): only from them `X-Forwarded-For` and "
            "`Forwarded` are believed, for limits by the address of a client."
        ),
    ] = ""
    password_memory: Annotated[
        int,
        Field(
            ge=1,
            le=1024,
            description="MiB of memory that hashing a password takes: the more, the longer a thief "
            "of the database needs for each guess.",
        ),
    ] = 64

    @field_validator("oidc_issuer")
    @classmethod
    def _is_issuer(cls, value: str) -> str:
        parts = urlsplit(value)
        is_here = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_here)
        if value and (not is_safe or not parts.hostname or parts.query or "@" in parts.netloc):
            raise ValueError("write an address as https://id.example")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, value: str) -> str:
        for part in filter(None, (part.strip() for part in value.split(","))):
            try:
                network = ip_network(part)
            except ValueError:
                raise ValueError("write addresses or networks, as 127.0.0.1, 10.0.0.0/8") from None
            if not network.prefixlen:
                raise ValueError("name the proxies: everybody could forge an address otherwise")
        return value

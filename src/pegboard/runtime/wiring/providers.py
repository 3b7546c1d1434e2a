"""Reads which services of others the built-in tools use, from the settings."""

from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import SecretStr

from pegboard.core.ports.source_services.providers import (
    ImageAccess,
    MailAccess,
    NotificationAccess,
    Providers,
    SearchAccess,
)
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.models import NetworkEntry
from pegboard.runtime.settings import Settings

_MAIL_SCHEMES = {
    "smtps": ("implicit", 465),
    "smtp": ("starttls", 587),
    "smtp+plain": ("none", 25),
}


def create_providers(settings: Settings, network: NetworkEntry) -> Providers:
    """Create the access to the services that the settings name.

    Their client may reach the hosts of these settings, wherever they are, and else what the board
    allows. `http_request` and `web_fetch` do not use it, so naming a host here opens it to no other
    tool.

    Raises:
        ConfigError: An address cannot be read; names the setting.
    """
    from pegboard.network import GuardedClient, SsrfPolicy

    notify = _secret(settings.notify_url)
    urls = {
        "PEGBOARD_SEARCH_URL": settings.search_url,
        "PEGBOARD_NOTIFY_URL": notify,
        "PEGBOARD_IMAGE_URL": settings.image_url,
    }
    hosts = [_authority(name, url) for name, url in urls.items() if url]
    policy = SsrfPolicy(
        allow_hosts=(*network.allow_hosts, *hosts), allow_networks=network.allow_networks
    )
    return Providers(
        http=GuardedClient(policy=policy),
        search=SearchAccess(
            provider=settings.search_provider or "",
            url=settings.search_url,
            key=_secret(settings.search_key),
        ),
        mail=_mail(settings),
        notifications=NotificationAccess(
            url=notify, format=settings.notify_format, token=_secret(settings.notify_token)
        ),
        images=ImageAccess(
            url=settings.image_url, key=_secret(settings.image_key), model=settings.image_model
        ),
    )


def _authority(name: str, url: str) -> str:
    parts = _split(name, url)
    host, is_http = parts.hostname or "*", parts.scheme in {"http", "https"}
    if not is_http or "*" in host or parts.username is not None:
        raise ConfigError(f"{name}: write an address without a user, as https://api.example.com")
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{_port(name, parts) or (443 if parts.scheme == 'https' else 80)}"


def _mail(settings: Settings) -> MailAccess:
    name, url = "PEGBOARD_SMTP_URL", _secret(settings.smtp_url)
    if not url:
        return MailAccess(sender=settings.email_from)
    parts = _split(name, url)
    tls, port = _MAIL_SCHEMES.get(parts.scheme, ("", 0))
    if not (tls and parts.hostname):
        raise ConfigError(f"{name}: write smtps://user:password@mail.example.com")
    if tls == "none" and parts.username:
        raise ConfigError(
            f"{name}: smtp+plain:// would send the password unencrypted; write smtp:// or smtps://"
        )
    return MailAccess(
        host=parts.hostname,
        port=_port(name, parts) or port,
        tls=tls,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        sender=settings.email_from,
        recipients=tuple(filter(None, map(str.strip, settings.email_recipients.split(",")))),
    )


def _split(name: str, url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # whose text may quote a password
        raise ConfigError(f"{name}: this is not an address") from None


def _port(name: str, parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise ConfigError(f"{name}: the port is a number up to 65535") from None


def _secret(value: SecretStr | None) -> str:
    return "" if value is None else value.get_secret_value()

"""What a database uses of the server's own machine."""

from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.dialects import DIALECTS

_PLAIN_OPTIONS = frozenset({"sslmode", "application_name", "connect_timeout"})
"""Options of a PostgreSQL URL that name no file, socket or service of this machine."""


def find_local_use(config: SqlConfig) -> str:
    """The file, the socket or the address of this machine that it uses; empty for none."""
    if config.dialect == "sqlite":
        return "a SQLite database is a file of the server"
    rules = DIALECTS[config.dialect]
    if not rules.native:
        return f"{rules.title} is reached by a driver that the operator has installed"
    try:
        parts = urlsplit(config.conninfo)
        host = parts.hostname or ""
    except ValueError:
        return "the URL names no host"
    options = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if others := sorted(options - _PLAIN_OPTIONS):
        return f"the option '{others[0]}' of the URL may name a file or socket of the server"
    if not _is_elsewhere(host):
        return "the URL names no public host"
    return ""


def _is_elsewhere(host: str) -> bool:
    """Whether a host is not this machine, and no private address."""
    if not host or "%" in host or "," in host or host.startswith("/"):
        return False
    try:
        return ip_address(host).is_global
    except ValueError:
        name = host.lower().rstrip(".")
        # `127.1` and `0x7f.1` are addresses to a resolver; a name ends in a word
        ends_in_word = name.rpartition(".")[2].replace("-", "").isalpha()
        return "." in name.strip(".") and ends_in_word and not name.endswith(".localhost")

"""Checks that the packages of the `server` and `mcp` extras are installed."""

from importlib import import_module
from importlib.util import find_spec

from pegboard.errors import ConfigError

_NEEDED = ("fastapi", "uvicorn", "websockets", "prometheus_client")


def require_server_extra() -> None:
    """Check that the packages of the `server` extra are installed.

    Raises:
        ConfigError: A package is missing; the message says what to install.
    """
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"The HTTP server needs {name}: pip install 'pegboard[server]'"
            ) from error


def has_server_extra() -> bool:
    """Whether the packages of the `server` extra are installed; loads none of them."""
    return all(find_spec(name) is not None for name in _NEEDED)


def has_mcp_extra() -> bool:
    """Whether the MCP SDK is installed; does not load it."""
    return find_spec("mcp") is not None and find_spec("mcp_types") is not None


def require_mcp_extra() -> None:
    """Check that the MCP SDK is installed, without loading it.

    Raises:
        ConfigError: It is missing; the message says what to install.
    """
    if not has_mcp_extra():
        raise ConfigError("Serving MCP needs the mcp package: pip install 'pegboard[mcp]'")

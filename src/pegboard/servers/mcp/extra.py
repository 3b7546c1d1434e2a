"""The `mcp` extra: named when it is missing."""

from importlib.util import find_spec

from pegboard.errors import ConfigError


def require_mcp_extra() -> None:
    """Check that the MCP SDK is installed, without loading it.

    Raises:
        ConfigError: It is not; says what to install.
    """
    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise ConfigError("Serving MCP needs the mcp package: pip install 'pegboard[mcp]'")

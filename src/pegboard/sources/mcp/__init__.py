"""The source kind for MCP servers: over stdio, streamable HTTP and SSE."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.local_use import find_local_use
from pegboard.sources.mcp.mcp_servers_json import expand
from pegboard.sources.mcp.source import open_source


def _trusts(config: object) -> bool:
    """Whether what a server sends counts as the operator's own: it runs on this machine."""
    return not (isinstance(config, McpConfig) and config.url)


KIND = SourceKind(
    kind="mcp",
    title="MCP server",
    config=McpConfig,
    open=open_source,
    extra="mcp",
    trusts=_trusts,
    remote=True,
    expand=expand,
    find_local_use=find_local_use,
)

__all__ = ["KIND"]

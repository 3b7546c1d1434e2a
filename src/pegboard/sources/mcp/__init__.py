"""The source kind for MCP servers: over stdio, streamable HTTP and SSE."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.mcp.caller_auth import read_caller_auth
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.local_use import find_local_use, is_trusted
from pegboard.sources.mcp.mcp_servers_json import expand
from pegboard.sources.mcp.source import open_source

KIND = SourceKind(
    kind="mcp",
    title="MCP server",
    config=McpConfig,
    open=open_source,
    extra="mcp",
    trusts=is_trusted,
    remote=True,
    expand=expand,
    find_local_use=find_local_use,
    caller_auth=read_caller_auth,
)

__all__ = ["KIND"]

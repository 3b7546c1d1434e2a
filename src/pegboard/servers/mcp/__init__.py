"""The MCP door."""

from pegboard.servers.mcp.endpoint import McpEndpoint
from pegboard.servers.mcp.part import Part
from pegboard.servers.mcp.process import serve_stdio

__all__ = ["McpEndpoint", "Part", "serve_stdio"]

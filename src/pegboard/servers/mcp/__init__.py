"""The MCP door."""

from pegboard.servers.mcp.part import Part
from pegboard.servers.mcp.process import serve_stdio

__all__ = ["Part", "serve_stdio"]

"""Serves a board to MCP clients."""

from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.stdio.serve import serve_stdio

__all__ = ["BoardSelection", "serve_stdio"]

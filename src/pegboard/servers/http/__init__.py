"""Serves a board over HTTP."""

from pegboard.servers.http.server import create_app, serve, serve_commands

__all__ = ["create_app", "serve", "serve_commands"]

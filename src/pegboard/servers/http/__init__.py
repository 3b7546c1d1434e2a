"""The HTTP door."""

from pegboard.servers.http.server import create_app, serve

__all__ = ["create_app", "serve"]

"""The HTTP door."""

from pegboard.servers.http.app import create_app
from pegboard.servers.http.server import serve

__all__ = ["create_app", "serve"]

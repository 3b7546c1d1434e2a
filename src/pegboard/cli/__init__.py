"""The command line: `pegboard`."""

from pegboard.cli.app import main

__all__ = ["main"]

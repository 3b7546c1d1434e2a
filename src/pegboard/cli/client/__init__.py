"""The board that a command works on: one that it opens, or that of a server."""

"""What exists: register, look up, search, call."""

from pegboard.registry.registry import ToolRegistry

__all__ = ["ToolRegistry"]

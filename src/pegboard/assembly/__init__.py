"""Which tools one request sees: a few are listed, the others are found and called by meta-tools."""

from pegboard.assembly.meta_tools import FIND_TOOLS, find_tools, unwrap_call
from pegboard.assembly.tool_selector import ModelToolList, SelectionLimits, ToolSelector

__all__ = [
    "FIND_TOOLS",
    "ModelToolList",
    "SelectionLimits",
    "ToolSelector",
    "find_tools",
    "unwrap_call",
]

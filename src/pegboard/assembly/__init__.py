"""Which tools one request sees: a few are listed, the others are found and called by meta-tools."""

from pegboard.assembly.inner_calls import unwrap_call
from pegboard.assembly.meta_tools import FIND_TOOLS, RESERVED_NAMES, find_tools, read_query
from pegboard.assembly.resolve_tools import STEPS, AssemblyStep, resolve_tools, run_steps
from pegboard.assembly.skills_and_delegation import (
    CALL_AGENT,
    READ_SKILL,
    find_untrusted_description,
)
from pegboard.assembly.tool_families import may_use
from pegboard.assembly.tool_request import SkillMode, ToolMode, ToolModes, ToolRequest
from pegboard.assembly.tool_selector import ModelToolList, SelectionLimits, ToolSelector

__all__ = [
    "CALL_AGENT",
    "FIND_TOOLS",
    "READ_SKILL",
    "RESERVED_NAMES",
    "STEPS",
    "AssemblyStep",
    "ModelToolList",
    "SelectionLimits",
    "SkillMode",
    "ToolMode",
    "ToolModes",
    "ToolRequest",
    "ToolSelector",
    "find_tools",
    "find_untrusted_description",
    "may_use",
    "read_query",
    "resolve_tools",
    "run_steps",
    "unwrap_call",
]

"""Making a tool: `@tool`, signatures, schemas, argument and result validation."""

from pegboard.tools.adopt import as_tool
from pegboard.tools.classes import BaseTool
from pegboard.tools.decorator import tool
from pegboard.tools.function import FunctionTool
from pegboard.tools.offers import prompt, resource
from pegboard.tools.schema_tool import SchemaTool

__all__ = ["BaseTool", "FunctionTool", "SchemaTool", "as_tool", "prompt", "resource", "tool"]

"""Making a tool: `@tool`, signatures, schemas, argument and result validation."""

from pegboard.tools.as_tool import as_tool
from pegboard.tools.base_tool import BaseTool
from pegboard.tools.decorator import tool
from pegboard.tools.function_tool import FunctionTool
from pegboard.tools.resources_and_prompts import prompt, resource
from pegboard.tools.schema_tool import SchemaTool

__all__ = ["BaseTool", "FunctionTool", "SchemaTool", "as_tool", "prompt", "resource", "tool"]

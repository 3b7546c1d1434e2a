"""LangChain's standard tests, for tools that Pegboard exports; `test_langchain.py` runs them."""

from collections.abc import Mapping
from typing import Any

from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from pegboard import SchemaTool, ToolContext, ToolRegistry, ToolResult, ToolSpec, exports, tool
from pegboard.core.result import ImagePart, TextPart


@tool(effect="read")
async def weather(city: str, days: int = 1) -> dict[str, Any]:
    """Forecast the weather of a city.

    Args:
        city: Where.
        days: How many.
    """
    return {"city": city, "days": days}


@tool(effect="read")
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


@tool(effect="read")
def picture(title: str) -> ToolResult:
    """Draw a picture."""
    image = ImagePart(data=b"PNG", media_type="image/png")
    return ToolResult(content=(TextPart(text=title), image), structured={"title": title})


async def run_lookup(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> dict[str, Any]:
    return dict(arguments)


LOOKUP = SchemaTool(
    spec=ToolSpec(
        name="lookup",
        description="Look a customer up.",
        input_schema={
            "type": "object",
            "properties": {"id": {"$ref": "#/$defs/Id"}},
            "required": ["id"],
            "$defs": {"Id": {"type": "integer"}},
        },
    ),
    run=run_lookup,
)
TOOLS = {
    item.name: item
    for item in exports.langchain_tools(ToolRegistry([weather, shout, picture, LOOKUP]))
}


class TestFunction(ToolsUnitTests):
    tool_constructor = TOOLS["weather"]
    tool_invoke_params_example = {"city": "Rome", "days": 3}


class TestFunctionCalls(ToolsIntegrationTests):
    tool_constructor = TOOLS["weather"]
    tool_invoke_params_example = {"city": "Rome", "days": 3}


class TestSyncFunctionCalls(ToolsIntegrationTests):
    tool_constructor = TOOLS["shout"]
    tool_invoke_params_example = {"text": "pear"}


class TestPictureCalls(ToolsIntegrationTests):
    tool_constructor = TOOLS["picture"]
    tool_invoke_params_example = {"title": "A pear"}


class TestSchema(ToolsUnitTests):
    tool_constructor = TOOLS["lookup"]
    tool_invoke_params_example = {"id": 7}


class TestSchemaCalls(ToolsIntegrationTests):
    tool_constructor = TOOLS["lookup"]
    tool_invoke_params_example = {"id": 7}

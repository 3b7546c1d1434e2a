"""Export the tools of a caller: for model APIs, MCP, OpenAPI, LangChain and Pydantic AI."""

from pegboard.exports.frameworks import langchain_tools, pydantic_ai_toolset
from pegboard.exports.json_formats import (
    anthropic_tools,
    compact_catalog,
    json_schemas,
    mcp_tools,
    openai_response_tools,
    openai_tools,
    openapi_document,
)

__all__ = [
    "anthropic_tools",
    "compact_catalog",
    "json_schemas",
    "langchain_tools",
    "mcp_tools",
    "openai_response_tools",
    "openai_tools",
    "openapi_document",
    "pydantic_ai_toolset",
]

"""An MCP server uses the server's machine unless it is at a URL."""

from typing import Any

import pytest

from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.local_use import find_local_use


@pytest.mark.parametrize(
    ("config", "is_local"),
    [
        ({"url": "https://a.example/mcp"}, False),
        ({"command": "npx"}, True),
        ({"mcp_json": ".mcp.json"}, True),
        ({"mcpServers": {"a": {"url": "https://a.example/mcp"}}}, True),
        ({"url": "https://a.example/mcp", "roots": ["/data"]}, True),
    ],
)
def test_a_process_a_file_or_a_folder_is_of_the_server(
    config: dict[str, Any], is_local: bool
) -> None:
    assert bool(find_local_use(McpConfig.model_validate(config))) is is_local

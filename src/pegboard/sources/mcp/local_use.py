"""What an MCP server uses of the server's own machine."""

from pegboard.sources.mcp.config import McpConfig


def find_local_use(config: McpConfig) -> str:
    """The process, the file or the folders that it uses; empty for a server at a URL."""
    if config.command:
        return "'command' starts a process on the server"
    if not config.url:
        return "'mcp_json' and 'mcpServers' may start processes: connect each server by its 'url'"
    if config.roots:
        return "'roots' names folders of the server"
    return ""


def is_trusted(config: object) -> bool:
    """Whether what a server sends counts as the operator's own text: it runs on this machine."""
    return not (isinstance(config, McpConfig) and config.url)

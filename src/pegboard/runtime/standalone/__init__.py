"""What a program uses without a board: agents, models, MCP servers, built-in tools."""

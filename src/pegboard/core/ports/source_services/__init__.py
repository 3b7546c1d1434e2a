"""What the board does for sources: checks of addresses, logins, services of others, subagents."""

"""`echo`: returns its message, to test a connection."""

from typing import Annotated

from pydantic import Field

from pegboard.tools import tool


@tool(effect="read", category="general", idempotent=True, inline=True, tags=("test",))
def echo(message: Annotated[str, Field(max_length=100_000)]) -> str:
    """Return the message unchanged, to check that calling tools works.

    Args:
        message: Any text.
    """
    return message

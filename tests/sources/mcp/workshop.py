"""An MCP server on the official SDK with tools that do what tests need; run it for stdio."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel

server = MCPServer("workshop", version="1.0")
notes: list[str] = []


class Form(BaseModel):
    colour: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True, title="Add up"))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(idempotent_hint=True, destructive_hint=False))
def note(text: str) -> list[str]:
    """Remember a text as long as this process lives."""
    notes.append(text)
    return notes


@server.tool()
def process() -> int:
    """The number of this process."""
    return os.getpid()


@server.tool()
def fail() -> str:
    """Refuse."""
    raise ToolError("the drawer is stuck")


@server.tool()
def die() -> str:
    """End this process in the middle of the call."""
    sys.stderr.write("out of glue\n")
    os._exit(3)


@server.tool()
async def wait(seconds: float, file: str, ctx: Context[Any, Any]) -> str:
    """Take a while; tell how far it is; leave a file when cancelled."""
    try:
        await ctx.report_progress(1, 2, "half")
        await ctx.info({"step": "half"}, logger_name="glue")  # pyright: ignore[reportDeprecated] - servers do
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        os.close(os.open(file, os.O_CREAT))
        raise
    return "done"


@server.tool()
async def colour(ctx: Context[Any, Any]) -> str:
    """Ask the person for a colour."""
    answer = await ctx.elicit("Which colour?", Form)
    return f"{answer.action}: {getattr(answer, 'data', None)}"


@server.tool()
async def rhyme(ctx: Context[Any, Any]) -> str:
    """Ask the caller's model for a rhyme."""
    asked = SamplingMessage(role="user", content=TextContent(text="A rhyme on glue"))
    found = await ctx.session.create_message(messages=[asked], max_tokens=20)  # pyright: ignore[reportDeprecated] - servers do
    return f"{found.model}: {getattr(found.content, 'text', '')}"


@server.tool()
async def grow(name: str, ctx: Context[Any, Any]) -> str:
    """Get another tool."""

    def extra() -> str:
        return name

    server.add_tool(extra, name=name, description="A tool that came later.")
    await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return name


@server.tool()
async def touch(uri: str, ctx: Context[Any, Any]) -> str:
    """Say that a resource has changed."""
    await ctx.session.send_resource_updated(uri)
    await ctx.notify_resource_updated(uri)
    return uri


@server.tool()
def picture() -> list[Any]:
    """A picture between two texts."""
    return ["before", Image(data=b"\x89PNG", format="png"), "after"]


@server.tool()
def variables() -> list[str]:
    """The names of the variables that this process has."""
    return sorted(os.environ)


@server.tool()
def secret() -> str:
    """What a test gave it."""
    return os.environ.get("WORKSHOP_TOKEN", "")


@server.resource("shelf://plan", mime_type="text/plain")
def plan() -> str:
    """What is to be built."""
    return "a chair"


@server.resource("shelf://parts/{number}")
def part(number: str) -> bytes:
    """One part."""
    return f"part {number}".encode()


@server.prompt()
def order(thing: str, colour: str = "red") -> str:
    """Order something."""
    return f"Please build a {colour} {thing}."


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Any:
    from mcp_types import Completion

    del ref, context
    values = [item for item in ("chair", "chest", "table") if item.startswith(argument.value)]
    return Completion(values=values, total=len(values), has_more=False)


if __name__ == "__main__":
    if len(sys.argv) > 1:  # a file that tells whoever started it which process it is
        Path(sys.argv[1]).write_text(str(os.getpid()))
    server.run("stdio")

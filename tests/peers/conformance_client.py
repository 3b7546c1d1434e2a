"""Does as each scenario of the MCP conformance suite asks of a client, with ours.

The suite starts a program for each scenario, with the server's url as the last argument and the
scenario in the environment. That program is a few lines that hand both to `answer_scenarios`, so
that the SDK is loaded once.
"""

import asyncio
import json
import shlex
import sys
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2

from pegboard import MCPClient, ToolContext
from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.core.ports.source_services.oauth_login import ConsentAnswer, OAuthLogin
from pegboard.core.result import TextPart
from pegboard.runtime.standalone.loopback_login import LoopbackLogin

HAND_OVER = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as door:
    door.connect(sys.argv[1])
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    given = os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[-1], context
    door.sendall(json.dumps(given).encode() + b"\\n")
    sys.exit(door.makefile().read() or 0)
"""
"""Ends well, or with what went wrong on stderr."""


class WillingPerson:
    """Accepts every form as it stands, with the values that it comes with."""

    takes_questions = True
    takes_samples = True

    async def ask(self, question: Question) -> Answer:
        """Agree."""
        places = question.schema.get("properties", {})
        content = {name: item["default"] for name, item in places.items() if "default" in item}
        return Answer(action="accept", content=content)

    async def sample(self, request: SampleRequest) -> Sample:
        """Answer as a model would."""
        return Sample(content=(TextPart(f"{len(request.messages)} read"),), model="none")


class WillingLogin(LoopbackLogin):
    """Consents to everything, as the suite's page of consent does by itself."""

    client_url = "https://conformance-test.local/client-metadata.json"

    async def ask(self, url: str) -> ConsentAnswer:
        """Follow the redirect of the page to the answer."""
        async with httpx2.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(url)
        fields = parse_qs(urlsplit(answer.headers["location"]).query)
        return ConsentAnswer(
            code=fields["code"][0],
            state=fields.get("state", [None])[0],
            issuer=fields.get("iss", [None])[0],
        )


class WillingLogins:
    """The login of whoever runs the suite."""

    def __init__(self) -> None:
        self._login = WillingLogin(print, timeout=30)

    def find(self, source: str, owner: str) -> OAuthLogin:
        """The only one."""
        del source, owner
        return self._login


async def log_in(url: str, given: dict[str, Any]) -> None:
    """Log in with what is given, list the tools, and call one."""
    known = {key: given[key] for key in ("client_id", "client_secret") if key in given}
    async with MCPClient(
        url,
        name="suite",
        logins=WillingLogins(),
        allow_hosts=["localhost"],  # where the suite starts its authorization servers
        auth={"kind": "oauth", **known},
    ) as client:
        await client.refresh()
        await client.call_tool("test-tool", {})


async def initialize(url: str) -> None:
    """Connect, list, leave."""
    async with MCPClient(url, name="suite") as client:
        await client.refresh()


async def tools_call(url: str) -> None:
    """Add two numbers."""
    async with MCPClient(url, name="suite") as client:
        result = await client.call_tool("add_numbers", {"a": 5, "b": 3})
        assert not result.is_error, result.text


async def elicitation_defaults(url: str) -> None:
    """Be asked, and accept what is proposed."""
    async with MCPClient(url, name="suite") as client:
        ctx = ToolContext(elicitor=WillingPerson())
        await client.call_tool("test_client_elicitation_defaults", {}, ctx=ctx)


async def sse_retry(url: str) -> None:
    """Lose the stream midway and take it up again."""
    async with MCPClient(url, name="suite") as client:
        result = await client.call_tool("test_reconnection", {})
        assert not result.is_error, result.text


SCENARIOS: dict[str, Callable[[str], Awaitable[None]]] = {
    "initialize": initialize,
    "tools_call": tools_call,
    "elicitation-sep1034-client-defaults": elicitation_defaults,
    "sse-retry": sse_retry,
}


async def play(scenario: str, url: str, given: dict[str, Any]) -> None:
    """Do as the scenario of this name asks."""
    if scenario.startswith("auth/"):
        await log_in(url, given)
    else:
        await SCENARIOS.get(scenario, initialize)(url)


@asynccontextmanager
async def answer_scenarios(folder: Path) -> AsyncGenerator[str]:
    """Play each scenario that comes; yields the command for the suite."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await play(*json.loads(await reader.readline()))
        except Exception:
            writer.write(traceback.format_exc().encode())
        await writer.drain()
        writer.close()

    program, door = folder / "hand_over.py", folder / "door"
    program.write_text(HAND_OVER)
    async with await asyncio.start_unix_server(answer, door):
        yield shlex.join([sys.executable, "-IS", str(program), str(door)])

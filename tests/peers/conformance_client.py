"""What the MCP conformance suite starts as a client: does as each scenario asks, with ours.

The suite gives the server's url as the last argument and the scenario in the environment.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

import httpx2

from pegboard import MCPClient, ToolContext
from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.core.ports.source_services.oauth_login import ConsentAnswer, OAuthLogin
from pegboard.core.result import TextPart
from pegboard.runtime.standalone.loopback_login import LoopbackLogin


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


async def log_in(url: str) -> None:
    """Log in, list the tools, and call one."""
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
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


def main() -> None:
    """Run the scenario that the suite names."""
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    run = log_in if scenario.startswith("auth/") else SCENARIOS.get(scenario, initialize)
    asyncio.run(run(sys.argv[-1]))  # type: ignore[arg-type]  # each is a coroutine function


if __name__ == "__main__":
    main()

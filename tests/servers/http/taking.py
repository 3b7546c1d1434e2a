"""A board with an API that takes credentials of its callers, and a real API that repeats them."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.network.loopback import Received, Server, reply, serving

TOKEN_OF_ADA = "ghp_secret-of-ada-4711"
TOKEN_OF_BOB = "ghp_secret-of-bob-0815"

BOARD = """
network: {{allow_hosts: ["127.0.0.1"]}}
sources:
  - kind: openapi
    name: github
    config:
      base_url: http://{authority}
      auth: {auth}
      actions:
        - {{name: whoami, path: /whoami}}
        - {{name: close, path: /close, method: post}}
  - kind: openapi
    name: weather
    config:
      base_url: http://{authority}
      actions: [{{name: now, path: /now}}]
policy: {policy}
"""


def board_text(server: Server, *, auth: Any = None, policy: Any = None) -> str:
    """A board file over this API."""
    rules = {"allow": ["github__*"]} if policy is None else policy
    return BOARD.format(
        authority=server.authority,
        auth=json.dumps({"kind": "caller"} if auth is None else auth),
        policy=json.dumps(rules),
    )


async def _repeat(received: Received, writer: asyncio.StreamWriter) -> None:
    """Answer what was sent, also in an error."""
    sent = received.headers.get("authorization", "")
    body = json.dumps({"sent": sent, "path": received.path}).encode()
    status = 418 if "refuse" in received.path else 200
    writer.write(reply(body, status=status, headers={"Content-Type": "application/json"}))


@asynccontextmanager
async def repeating_api() -> AsyncGenerator[Server]:
    """An API that answers with the credential that it got."""
    async with serving(_repeat) as server:
        yield server

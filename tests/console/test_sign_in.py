"""Signing in at an identity provider, and letting an MCP client in, in a real browser.

`make web` builds what is tested, `make peers` installs the browser and the provider. With
`CONSOLE_SHOTS=DIR` a picture of each page is written to that folder.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.console.server import BROWSER, HERE, Server, check_built
from tests.peers.node import node
from tests.peers.test_oidc import started_provider

TOKEN = "correct horse battery staple"
STEPS = [
    "the first person",
    "somebody signs in at the provider of the organisation",
    "a program is let in, and its key is revoked",
    "another one is refused",
    "a sign-in at the provider leads back to the request of a program",
    "a link to connect an account leads to the sign-in and on",
]
BOARD = "sources: [{kind: builtin, name: tools}]\n"


async def walk(folder: Path) -> dict[str, Any]:
    """What a browser reports of its way through the server."""
    server = Server(folder)
    async with started_provider(f"{server.url}/v1/session/oidc/callback") as issuer:
        server.settings |= {
            "PEGBOARD_TOKEN": TOKEN,
            "PEGBOARD_PUBLIC_URL": server.url,
            "PEGBOARD_OAUTH_REGISTRATION": "true",
            "PEGBOARD_OIDC_ISSUER": issuer,
            "PEGBOARD_OIDC_CLIENT_ID": "board",
            "PEGBOARD_OIDC_CLIENT_SECRET": "a secret of the board",
            "PEGBOARD_OIDC_ORGANISATION": "acme",
        }
        await server.start()
        try:
            process = await asyncio.create_subprocess_exec(
                str(node()),
                str(HERE / "sign_in.mjs"),
                env={
                    **os.environ,
                    "TMPDIR": str(BROWSER),
                    "CONSOLE_URL": server.url,
                    "CONSOLE_TOKEN": TOKEN,
                    "CONSOLE_ISSUER": issuer,
                },
                stdout=asyncio.subprocess.PIPE,
            )
            told, _ = await process.communicate()
        finally:
            await server.end()
    report: dict[str, Any] = json.loads(told)
    return report


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_people_sign_in_elsewhere_and_let_programs_in(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "board.yaml").write_text(BOARD)

    report = await walk(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS

"""Requests that a mock of the same document judges: built from generated arguments, all accepted.

Prism answers 422 and 401 of its own for what its document does not allow, marked in the body; other
answers are those that the document has.
"""

import contextlib
import json
import random
import socket
import subprocess
import time
from collections.abc import Collection, Generator
from pathlib import Path

import pytest
from tests.peers.node import PEERS, node_environ, node_program
from tests.peers.ports import free_port
from tests.sources.openapi.generating import arguments

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.errors import PegboardError
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.call.error_responses import ApiErrorDetail
from pegboard.sources.openapi.config import OpenApiConfig

MODULES = PEERS / "node_modules"
EXAMPLES = MODULES / "@readme" / "oas-examples"
GITHUB = MODULES / "@octokit" / "openapi" / "generated" / "api.github.com.json"
AUTH = [
    {"kind": "bearer", "token": "token-1"},
    {"kind": "api_key", "key": "key-1"},
    {"kind": "basic", "username": "ann", "password": "pass-1"},
]
REFUSALS = ("UNPROCESSABLE", "UNAUTHORIZED", "NO_PATH", "NO_METHOD", "NOT_ACCEPTABLE", "INVALID_")
MOST_OPERATIONS = 60
# Prism breaks on these styles: it splits arrays of headers and paths that are absent or split
# already, throws where an object is delimited, and takes an encoded apostrophe in a form for one.
# `test_styles.py` and `test_bodies.py` hold them to the specification.
PRISM_BREAKS = ("headers_", "paths_", "query_spaceDelimited", "query_pipeDelimited", "form")
# Nor does it know discriminators: what two open alternatives allow is too much for it.
# `test_discriminators.py` holds them to the specification.
PRISM_DOUBTS = "must match exactly one schema in oneOf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    pytest.mark.skipif(not MODULES.is_dir(), reason="`make peers` installs prism"),
]


@contextlib.contextmanager
def mocked(document: Path, log: Path) -> Generator[int]:
    port = free_port()
    command = [node_program("prism"), "mock", "-h", "127.0.0.1", "-p", str(port), str(document)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=node_environ(), stdout=output, stderr=output)
    try:
        until = time.monotonic() + 90
        while not _listens(port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield port
        assert process.poll() is None, log.read_text()[-2000:]
    finally:
        process.terminate()
        process.wait(20)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def judged(
    document: Path, port: int, *, each: int, only: Collection[str] = ()
) -> tuple[int, list[str]]:
    """How many requests were accepted, and what was said of the others."""
    http = GuardedClient(policy=SsrfPolicy(allow_hosts=[f"127.0.0.1:{port}"]))
    given = {"document": str(document), "base_url": f"http://127.0.0.1:{port}", "auth": AUTH}
    source = await KIND.open("api", OpenApiConfig.model_validate(given), Services(http=http))
    tools = [tool for tool in await source.tools() if not tool.spec.action.startswith(PRISM_BREAKS)]
    tools = [tool for tool in tools if not only or tool.spec.action in only]
    if len(tools) > MOST_OPERATIONS:
        tools = random.Random(1).sample(tools, MOST_OPERATIONS)
    accepted, refused = 0, list[str]()
    for tool in tools:
        assert tool.spec.unavailable == "", tool.spec.unavailable
        for call in arguments(tool.spec.input_schema, count=each):
            try:
                await tool.run(call, ToolContext())
            except PegboardError as error:
                if " of a path" in str(error) or " of the path" in str(error):
                    continue  # an empty array has no place in a path
                if PRISM_DOUBTS in str(error.__cause__):
                    continue
                if any(f"errors#{code}" in str(error.__cause__) for code in REFUSALS):
                    refused.append(f"{tool.spec.action} {call}: {error.__cause__}")
                    continue
                if not isinstance(error.__cause__, ApiErrorDetail) and f":{port}" in str(error):
                    raise  # it broke, or a request could not be built
            accepted += 1
    await http.close()
    return accepted, refused


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("2.0/json/petstore.json", 60),
        ("3.0/json/parameters-style.json", 25),
        ("3.0/json/file-uploads.json", 8),
        ("3.0/json/form-data.json", 3),
        ("3.0/json/schema-types.json", 60),
        ("3.0/json/polymorphism.json", 25),
        ("3.0/json/security.json", 12),
        ("3.0/json/star-trek.json", 100),
        ("3.1/json/train-travel.json", 12),
        ("3.1/json/petstore.json", 60),
    ],
)
async def test_a_mock_accepts_what_is_built_of_an_example(
    name: str, least: int, tmp_path: Path
) -> None:
    with mocked(EXAMPLES / name, tmp_path / "log") as port:
        accepted, refused = await judged(EXAMPLES / name, port, each=4)

    assert refused == []
    assert accepted >= least


async def test_a_mock_accepts_what_is_built_of_github(tmp_path: Path) -> None:
    """The source reads the whole document; the mock gets some of its paths, to start sooner."""
    described = json.loads(GITHUB.read_bytes())
    paths = random.Random(1).sample(sorted(described["paths"]), MOST_OPERATIONS)
    some = {path: described["paths"][path] for path in paths}
    (tmp_path / "some.json").write_text(json.dumps({**described, "paths": some, "x-webhooks": {}}))
    names = {
        item["operationId"].replace("/", "_") for path in some.values() for item in path.values()
    }
    with mocked(tmp_path / "some.json", tmp_path / "log") as port:
        accepted, refused = await judged(GITHUB, port, each=3, only=names)

    assert refused == []
    assert accepted >= 120

"""Attacks on one whole server, whose memory is capped; after each it still answers others.

What each attack does to its own room is tested there. Here one process meets them all: it may not
grow, may not hold up anybody for long, and must be as it was at the end.
"""

import contextlib
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from tests.peers.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MEGABYTE = 2**20
CAP = 1_500 * MEGABYTE
"""Bytes of data that the server may have; one that wants more dies, and the test fails."""
GROWTH = 400 * MEGABYTE
"""Bytes by which it may grow with one attack."""
ATTACK_CPU = 20.0
"""Seconds of processor time that one attack may cost the server."""

MODULE = """
import os
from click import open_file
from pegboard import tool


@tool(effect="write", name="erase")
def erase(path: str) -> str:
    \"\"\"Erase a file.\"\"\"
    return f"erased {path}"
"""
BOARD = """
sources:
  - {kind: builtin, name: std}
  - {kind: functions, name: my, config: {modules: [attacked_tools]}}
  - kind: sql
    name: shop
    config: {url: "sqlite:///shop.db", hidden_tables: [staff], statement_timeout: 2}
catalogue: {imports: ["attacked_tools:*"]}
policy: {deny: ["my__erase"]}
"""


def doubling(depth: int) -> dict[str, Any]:
    """A schema in which each definition names the next one twice."""
    parts: dict[str, Any] = {
        f"d{number}": {"anyOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(depth)
    }
    return {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "$defs": parts | {f"d{depth}": {"type": "string"}},
    }


def registration(name: str, **more: Any) -> dict[str, Any]:
    return {
        "tool_id": f"{name}_v1",
        "name": name,
        "type": "PythonFunction",
        "import": "attacked_tools:erase",
        **more,
    }


class Server:
    """A server that runs, and a client of it."""

    def __init__(self, url: str, process: psutil.Process) -> None:
        self.url = url
        self.process = process
        self.http = httpx2.Client(base_url=url, timeout=60)

    def post(self, path: str, body: Any) -> httpx2.Response:
        return self.http.post(path, json=body)

    def call(self, tool: str, **arguments: Any) -> httpx2.Response:
        return self.post("/execute", {"name": tool, "input": arguments})

    def cpu(self) -> float:
        spent = self.process.cpu_times()
        return spent.user + spent.system

    def memory(self) -> int:
        return self.process.memory_info().rss


def cap_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (CAP, CAP))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A server over functions, built-in tools and a database, with a cap on its memory."""
    folder = tmp_path_factory.mktemp("attacked")
    (folder / "attacked_tools.py").write_text(MODULE)
    (folder / "board.yaml").write_text(BOARD)
    with contextlib.closing(sqlite3.connect(folder / "shop.db")) as database:
        database.executescript(
            "CREATE TABLE article (id INTEGER, name TEXT);"
            "INSERT INTO article VALUES (1, 'pen'), (2, 'ink');"
            "CREATE TABLE staff (id INTEGER, salary INTEGER);"
        )
    port = free_port()
    command = ("-m", "pegboard", "serve", "--port", str(port), "--data", "memory")
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PEGBOARD_DATA"},
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=cap_memory,  # noqa: PLW1509 - the test process has no threads that hold locks here
        ) as process,
    ):
        found = Server(f"http://127.0.0.1:{port}", psutil.Process(process.pid))
        try:
            wait_until_ready(found, folder / "log")
            yield found
        finally:
            found.http.close()
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def wait_until_ready(server: Server, log: Path) -> None:
    for _ in range(600):
        with contextlib.suppress(httpx2.HTTPError):
            if server.http.get("/readyz").status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text())


def a_schema_that_multiplies(server: Server) -> httpx2.Response:
    return server.post("/tools/register", registration("bomb", input_schema=doubling(24)))


def a_graph_with_a_schema_that_multiplies(server: Server) -> httpx2.Response:
    graph = {"nodes": [], "params": doubling(24)}
    return server.post("/plan/check", {"graph": graph})


def empty_arrays(server: Server) -> httpx2.Response:
    body = b'{"name": "std__echo", "input": {"message": [' + b"[]," * 3_000_000 + b"[]]}}"
    return server.http.post("/execute", content=body, headers={"Content-Type": "application/json"})


def many_keys(server: Server) -> httpx2.Response:
    keys = {f"k{number}": 0 for number in range(700_000)}
    return server.call("std__echo", message=keys)


def deep_nesting(server: Server) -> httpx2.Response:
    body = b'{"name": "std__echo", "input": {"message": ' + b"[" * 200_000 + b"]" * 200_000 + b"}}"
    return server.http.post("/execute", content=body, headers={"Content-Type": "application/json"})


def a_module_of_the_module(server: Server) -> httpx2.Response:
    server.post("/tools/register", registration("abort", **{"import": "attacked_tools:os.abort"}))
    return server.call("abort")


def what_the_module_imports(server: Server) -> httpx2.Response:
    given = registration("opener", **{"import": "attacked_tools:open_file"})
    server.post("/tools/register", given)
    return server.call("opener", filename="/etc/passwd")


def printf_that_grows(server: Server) -> httpx2.Response:
    text = " || ".join(["printf('%.*c', 2147483647, 'x')"] * 40)
    return server.call("shop__query", sql=f"SELECT length({text})")


def a_hidden_table(server: Server) -> httpx2.Response:
    return server.call("shop__query", sql="SELECT * FROM staff")


def a_join_without_end(server: Server) -> httpx2.Response:
    tables = ", ".join(f"article a{number}" for number in range(40))
    return server.call("shop__query", sql=f"SELECT count(*) FROM {tables}")


def a_list_that_doubles(server: Server) -> httpx2.Response:
    return server.call("std__python_exec", code="x = [1]\nfor i in range(40):\n    x = [x, x]\nx")


def a_power_of_a_power(server: Server) -> httpx2.Response:
    return server.call("std__calculator", expression="9 ** 9 ** 9 ** 9")


def a_template_that_grows(server: Server) -> httpx2.Response:
    template = "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}"
    return server.call("std__template_render", template=template, data={})


def a_pattern_that_backtracks(server: Server) -> httpx2.Response:
    return server.call("std__text_utils", operation="find", text="a" * 50_000, pattern="(a+)+$b")


def a_denied_function_under_another_name(server: Server) -> httpx2.Response:
    made = server.post("/tools/register", registration("harmless"))
    assert made.status_code < 500, made.text
    return server.call("harmless", path="/etc/passwd")


REFUSED: Mapping[Callable[[Server], httpx2.Response], tuple[int, ...]] = {
    a_schema_that_multiplies: (400, 422),
    a_graph_with_a_schema_that_multiplies: (200, 400, 422),
    empty_arrays: (400, 413, 422),
    many_keys: (400, 413, 422),
    deep_nesting: (400, 422),
    a_module_of_the_module: (503,),
    what_the_module_imports: (503,),
    printf_that_grows: (400,),
    a_hidden_table: (400,),
    a_join_without_end: (400,),
    a_list_that_doubles: (400, 503),
    a_power_of_a_power: (400,),
    a_template_that_grows: (400,),
    a_pattern_that_backtracks: (200, 400, 422),
    a_denied_function_under_another_name: (403,),
}
"""What the server may answer. 503 is a machine without a sandbox."""


@pytest.mark.parametrize("attack", REFUSED, ids=lambda attack: attack.__name__)
def test_an_attack_is_refused_and_others_are_answered(
    server: Server, attack: Callable[[Server], httpx2.Response]
) -> None:
    before, memory = server.cpu(), server.memory()

    answer = attack(server)
    spent = server.cpu() - before
    after = server.call("std__calculator", expression="6 * 7")

    assert answer.status_code in REFUSED[attack], answer.text[:500]
    assert "Traceback" not in answer.text
    assert spent < ATTACK_CPU
    assert after.json()["output"] == 42
    assert server.memory() - memory < GROWTH


def test_half_sent_requests_hold_nobody_up(server: Server) -> None:
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    with contextlib.ExitStack() as stack:
        for number in range(600):
            half = stack.enter_context(socket.create_connection(address, timeout=30))
            with contextlib.suppress(OSError):  # it may be closed already, to make room
                half.sendall(
                    b"POST /execute HTTP/1.1\r\nHost: a\r\nX-Part: " + b"a" * (number % 50)
                )
        question = {"name": "std__calculator", "input": {"expression": "6 * 7"}}
        answer = httpx2.post(f"{server.url}/execute", json=question, timeout=60)

    assert answer.json()["output"] == 42


def test_it_is_as_it_was_at_the_end(server: Server) -> None:
    ready = server.http.get("/readyz")

    assert ready.status_code == 200
    assert server.memory() < CAP / 2

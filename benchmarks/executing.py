"""A call by `POST /execute` beside a bare FastAPI route: CPU of the server's process."""

import json
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from measure import process_clock
from table import goal, number, section, table

SERVER = Path(__file__).with_name("execute_server.py")
BODY = json.dumps({"name": "builtin__echo", "input": {"message": "hello"}}).encode()
HEAD = (
    b"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n" % len(BODY)
)
SERVERS = ("bare", "ours", "token", "key")
ROUNDS = 40
CALLS = 100
MOST = 1.6
MOST_SIGNED_IN = 1.15


def cost_of_executing() -> str:
    """CPU of one request to each server, on one connection a turn."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(_server(name)) for name in SERVERS}
        best = dict.fromkeys(servers, float("inf"))
        for _ in range(ROUNDS):
            for name, server in servers.items():
                best[name] = min(best[name], _turn(*server))
    rows = [
        ["a bare FastAPI route with the same models", number(best["bare"])],
        ["Pegboard, `POST /execute`", number(best["ours"])],
        ["the same on a file, with the server's token", number(best["token"])],
        ["the same on a file, with a key of an account", number(best["key"])],
    ]
    return section(
        "A call over HTTP",
        table(["", "CPU of the server, us"], rows),
        goal("against the bare route", best["ours"] / best["bare"], MOST, unit="x"),
        goal("a key against the token", best["key"] / best["token"], MOST_SIGNED_IN, unit="x"),
    )


def _turn(pid: int, port: int, request: bytes) -> float:
    """Microseconds of a call, without those that connect."""
    with socket.create_connection(("127.0.0.1", port)) as client:
        for _ in range(20):
            _call(client, request)
        began = process_clock(pid)
        for _ in range(CALLS):
            _call(client, request)
        return (process_clock(pid) - began) / CALLS * 1e6


def _call(client: socket.socket, request: bytes) -> None:
    client.sendall(request)
    answer = b""
    while not answer.endswith(b"}"):
        answer += client.recv(65_536)
    if not answer.startswith(b"HTTP/1.1 200") or b'"hello"' not in answer:
        raise RuntimeError(f"a wrong answer: {answer!r}")


@contextmanager
def _server(name: str) -> Generator[tuple[int, int, bytes]]:
    process = subprocess.Popen(
        [sys.executable, str(SERVER), name],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        port, _, sent = process.stdout.readline().strip().partition(" ")
        header = f"Authorization: {sent}\r\n".encode() if sent else b""
        yield process.pid, int(port), HEAD + header + b"\r\n" + BODY
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    print(cost_of_executing())

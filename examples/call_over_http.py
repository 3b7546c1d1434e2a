"""Calling a running server with nothing but the standard library.

Run it beside `pegboard serve` with `python examples/call_over_http.py http://127.0.0.1:8321`.
"""

import json
import sys
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TOKEN = ""
"""What `PEGBOARD_TOKEN` says, where the server has one."""


def ask(url: str, body: dict[str, Any] | None = None, *, key: str = "") -> dict[str, Any]:
    """Send a request; a problem is an answer too."""
    headers = {"Content-Type": "application/json"}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    if key:
        headers["Idempotency-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, data=data, headers=headers), timeout=30) as answer:
            return json.load(answer)
    except HTTPError as problem:
        return json.load(problem)


def main(server: str) -> None:
    """List, call, be refused, and repeat a call without repeating what it does."""
    listed = ask(f"{server}/tools?category=computation")
    print("tools:", ", ".join(tool["name"] for tool in listed["tools"]))

    (name,) = (tool["name"] for tool in listed["tools"] if tool["name"].endswith("calculator"))
    right = ask(f"{server}/execute", {"name": name, "input": {"expression": "6 * 7"}})
    print("answer:", right["output"])

    wrong = ask(f"{server}/execute", {"name": name, "input": {"expresion": "6 * 7"}})
    for problem in wrong["problems"]:
        print(f"{wrong['status']} {wrong['code']}: {problem['path']}: {problem['message']}")

    call = {"name": name, "input": {"expression": "2 ** 10"}}
    first = ask(f"{server}/execute", call, key="once")
    again = ask(f"{server}/execute", call, key="once")
    print("replayed:", first["metadata"]["replayed"], again["metadata"]["replayed"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8321")

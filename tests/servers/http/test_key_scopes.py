"""What keys that were made for less may ask of each route that changes something."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied
from pegboard.runtime import Pegboard
from pegboard.servers.http.websocket.dispatch import dispatch
from pegboard.servers.http.websocket.messages import READER

CHANGES = ("post", "put", "patch", "delete")
FREE = {
    ("post", "/session"): "signs in",
    ("put", "/session"): "needs a session, which a key has not",
    ("delete", "/session"): "ends the session of the request",
    ("post", "/people/link"): "open to all",
    ("post", "/people/join"): "open to all",
    ("post", "/tools/search"): "reads what the caller may see",
    ("post", "/tools/{tool}/validate"): "reads what the caller may see",
    ("post", "/ws/tickets"): "opens a WebSocket, where each message is checked",
    ("post", "/approvals"): "each decision is refused in its own result",
    ("delete", "/keys/{key}"): "a key may revoke itself",
}
"""The routes that a key may use whatever it was made for."""
GRAPH = {"nodes": [{"id": "sum", "tool": "add", "input": {"a": 1, "b": 2}}]}
QUESTION = {"id": "ask", "kind": "wait", "wait": {"question": "To whom?"}}
PAY = {
    "id": "pay",
    "tool": "note",
    "edges": [{"node": "ask"}],
    "input": {"text": "$.steps.ask.output"},
}
ASKING = {"nodes": [QUESTION, PAY]}
NO_UPDATES: Any = None
MESSAGES = [{"role": "user", "content": "hi"}]
BODIES: dict[tuple[str, str], Any] = {
    ("patch", "/account"): {"name": "Mallory"},
    ("post", "/chat"): {"message": "hi"},
    ("post", "/chat/completions"): {"model": "auto", "messages": MESSAGES},
    ("post", "/execute"): {"name": "note", "input": {"text": "x"}},
    ("post", "/files"): {"conversation": "c", "path": "x"},
    ("post", "/knowledge/{base}/check"): {"upload": "f_1"},
    ("post", "/knowledge/{base}/documents"): {"upload": "f_1"},
    ("post", "/marketplace/{marketplace}/{entry}"): {"digest": "0" * 64},
    ("post", "/organisations"): {"handle": "zoo"},
    ("post", "/organisations/{organisation}/services"): {"handle": "robot"},
    ("put", "/organisations/{organisation}/members/{person}"): {"roles": ["editor"]},
    ("put", "/organisations/{organisation}/roles/{role}"): {"levels": {"shop": "read"}},
    ("post", "/plan"): {"goal": "add"},
    ("post", "/responses"): {"model": "auto", "input": "hi"},
    ("post", "/runs"): {"graph": GRAPH},
    ("post", "/uploads"): {"name": "x", "size": 1},
}
"""Where the smallest body that fits the schema says nothing."""


class Keys:
    """Ada, an operator, her keys that were made for less, and what she has stored."""

    def __init__(self, board: Pegboard, house: House, ada: httpx2.AsyncClient) -> None:
        self.board, self.house, self.ada = board, house, ada
        self.ids: dict[str, str] = {}

    async def fill(self) -> None:
        base = await self.ada.post("/v1/knowledge", json={"name": "handbook"})
        call = {"name": "refund", "input": {"invoice": 1}}
        approval = (await self.ada.post("/v1/execute", json=call)).json()["approval_id"]
        self.ids = {
            "base": base.json()["id"],
            "approval": approval,
            "organisation": "acme",
            "person": "ada",
        }

    async def make(self, *scopes: str) -> tuple[httpx2.AsyncClient, Principal]:
        wanted = {"name": "less", "scopes": scopes}
        made = (await self.ada.post("/v1/keys", json=wanted)).json()
        found = await self.board.identity.callers.name_local(made["key"])
        return self.house.client(bearer=made["key"]), found

    async def send(self, client: httpx2.AsyncClient, method: str, path: str, about: Any) -> int:
        """The status of a request with the smallest body, about what is there where it matters."""
        spec, where = self.spec, path
        for item in about.get("parameters", ()):
            if item["in"] == "path":
                where = where.replace(f"{{{item['name']}}}", self.ids.get(item["name"], "x1"))
        query = {
            item["name"]: sample(item["schema"], spec)
            for item in about.get("parameters", ())
            if item["in"] == "query" and item.get("required")
        }
        content = about.get("requestBody", {}).get("content", {})
        given: dict[str, Any] = {}
        if (method, path) in BODIES:
            given = {"json": BODIES[method, path]}
        elif "application/json" in content:
            given = {"json": sample(content["application/json"]["schema"], spec)}
        elif content:
            headers = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
            given = {"content": b"x", "headers": headers}
        answer = await client.request(method, f"/v1{where}", params=query, **given)
        return answer.status_code

    async def load_spec(self) -> None:
        self.spec = (await self.ada.get("/v1/openapi.json")).json()


def sample(schema: Any, spec: Any) -> Any:
    """The smallest value that fits a schema, as far as it says so."""
    while "$ref" in schema:
        schema = spec["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for name in ("anyOf", "oneOf"):
        if name in schema:
            return sample(schema[name][0], spec)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kind = schema.get("type", "string")
    if kind == "object":
        return {it: sample(schema["properties"][it], spec) for it in schema.get("required", ())}
    if kind == "array":
        return [sample(schema["items"], spec) for _ in range(schema.get("minItems", 0))]
    return {"boolean": True, "integer": 1, "number": 1}.get(kind, "x" * 10)


@pytest.fixture
async def keys(tmp_path: Path) -> AsyncGenerator[Keys]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        made = Keys(board, house, await house.found())
        await made.fill()
        await made.load_spec()
        yield made


async def test_a_key_for_something_else_changes_nothing_on_any_route(keys: Keys) -> None:
    auditor, _ = await keys.make("audit:read")

    allowed = {
        (method, path): status
        for path, methods in keys.spec["paths"].items()
        for method, about in methods.items()
        if method in CHANGES and (method, path) not in FREE
        if (status := await keys.send(auditor, method, path, about)) != 403
    }

    assert allowed == {}


async def ask_a_question(client: httpx2.AsyncClient) -> str:
    """The id of a run that waits for an answer, with which it calls a tool that writes."""
    started = await client.post("/v1/runs", json={"graph": ASKING})
    assert started.status_code == 202, started.text
    run = started.json()["run_id"]
    shown = (await client.get(f"/v1/runs/{run}", params={"wait": 5})).json()
    assert shown["state"] == "waiting"
    return str(run)


async def control(client: httpx2.AsyncClient, run: str) -> list[int]:
    """The statuses of all that makes a run go on or end."""
    wanted: dict[str, Any] = {
        "messages": {"event": "steer", "message": "MALLORY"},
        "questions/q": {"action": "accept"},
        "answers": {"pending_id": "ask", "answer": "MALLORY"},
        "pause": None,
        "resume": None,
        "cancel": None,
    }
    return [
        (await client.post(f"/v1/runs/{run}/{path}", json=body)).status_code
        for path, body in wanted.items()
    ]


async def test_a_run_of_a_session_is_driven_by_no_key_that_may_not_write(keys: Keys) -> None:
    run = await ask_a_question(keys.ada)
    made = [await keys.make(scope) for scope in ("tools:read", "audit:read", "approvals:decide")]

    assert [await control(key, run) for key, _ in made] == [[403] * 6] * 3
    assert (await keys.ada.get(f"/v1/runs/{run}")).json()["state"] == "waiting"


async def test_a_key_that_reads_controls_the_runs_that_it_has_begun_with_its_own_rights(
    keys: Keys,
) -> None:
    key, _ = await keys.make("tools:read")
    run = (await key.post("/v1/runs", json={"graph": {"nodes": [QUESTION]}})).json()
    path = f"/v1/runs/{run['run_id']}"
    await key.get(path, params={"wait": 5})

    answered = await key.post(f"{path}/answers", json={"pending_id": "ask", "answer": "Bob"})

    assert answered.status_code == 200
    assert (await key.get(path, params={"wait": 5})).json()["state"] == "completed"


async def test_a_key_that_controls_all_runs_gives_them_no_answers(keys: Keys) -> None:
    run = await ask_a_question(keys.ada)
    key, _ = await keys.make("runs:all")

    assert await control(key, run) == [403, 403, 403, 200, 200, 200]


async def test_a_key_for_something_else_reads_nothing_that_is_the_persons(keys: Keys) -> None:
    wanted = (
        *("/conversations", "/conversations/c_1", "/conversations/c_1/export"),
        *("/conversations/c_1/files", "/files", "/files/f_1", "/uploads", "/uploads/f_1"),
        *("/runs", "/runs/r_1", "/runs/r_1/events", "/history", "/history/totals"),
        "/results/r_1",
    )
    key, _ = await keys.make("approvals:decide")

    assert {(await key.get(f"/v1{path}")).status_code for path in wanted} == {403}


async def test_a_key_for_something_else_lists_no_tools(keys: Keys) -> None:
    key, _ = await keys.make("audit:read")
    reader, _ = await keys.make("tools:read")

    assert (await key.get("/v1/tools")).json()["tools"] == []
    assert (await reader.get("/v1/tools")).json()["tools"] != []


async def test_a_key_reads_what_it_was_made_for(keys: Keys) -> None:
    auditor, _ = await keys.make("audit:read")
    approver, _ = await keys.make("approvals:decide")

    assert (await auditor.get("/v1/history")).status_code == 200
    assert (await auditor.get("/v1/audit")).status_code == 200
    assert (await approver.get("/v1/history")).status_code == 403
    listed = (await approver.get("/v1/approvals")).json()["approvals"]
    assert [item["id"] for item in listed] == [keys.ids["approval"]]
    decided = await approver.post(f"/v1/approvals/{listed[0]['id']}", json={"decision": "deny"})
    assert decided.status_code == 200


async def test_a_websocket_refuses_the_same_keys(keys: Keys) -> None:
    run = await ask_a_question(keys.ada)
    _, reader = await keys.make("tools:read")
    answer = {"pending_id": "ask", "answer": "MALLORY"}

    for message in (
        {"id": 1, "type": "answer_run", "run_id": run, "body": answer},
        {"id": 1, "type": "message_run", "run_id": run, "body": {"event": "steer"}},
        {"id": 1, "type": "cancel_run", "run_id": run},
    ):
        with pytest.raises(AccessDenied, match="the key lacks the scope tools:write"):
            await dispatch(
                cast("Any", READER.validate_python(message)), keys.board, reader, NO_UPDATES,
                subscriptions=NO_UPDATES,
            )  # fmt: skip

"""A chat whose call lacks a credential of its caller, and goes on once there is one."""

from pathlib import Path

from tests.servers.http.live import a_server, patient
from tests.servers.http.routes.test_chat import read_events
from tests.servers.http.taking import TOKEN_OF_ADA, board_text, repeating_api

from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn


async def test_a_call_asks_for_an_account_and_goes_on_once_it_is_there(tmp_path: Path) -> None:
    model = ScriptedModel(Turn(calls=(("github__whoami", {}),)), Turn(text="You are Ada."))
    async with repeating_api() as api:
        (tmp_path / "board.yaml").write_text(board_text(api))
        board = Pegboard(tmp_path / "board.yaml", data=tmp_path / "data", model=model)
        async with a_server(board) as url, patient(base_url=url) as client:
            async with client.stream("POST", "/v1/chat", json={"message": "Who am I?"}) as answer:
                events = await read_events(answer, until="credential_required")
            last, _, asked = events[-1]
            approval = (await client.get(f"/v1/approvals/{asked['approval']}")).json()
            stored = await client.post(
                "/v1/credentials",
                json={"source": "github", "kind": "bearer", "value": TOKEN_OF_ADA},
            )
            path = f"/v1/conversations/{asked['conversation']}/events"
            async with client.stream("GET", path, params={"after": last}) as answer:
                ending = await read_events(answer)

    assert (asked["tool"], asked["link"]) == ("github__whoami", "")
    assert (approval["kind"], approval["source"]) == ("connection", "github")
    assert stored.status_code in {200, 201}, stored.text
    assert ending[-1][2]["text"] == "You are Ada."
    assert [kind for _, kind, _ in events + ending].count("approval_required") == 0
    assert len(api.requests) == 1

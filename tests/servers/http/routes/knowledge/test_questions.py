"""Questions of tools over HTTP: shown with the run, and answered at both doors."""

from pathlib import Path

from tests.features.conversations.made import BOARD
from tests.features.conversations.test_questions import calls, order
from tests.servers.http.live import a_server, patient
from tests.servers.http.routes.test_chat import read_events

from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn


async def test_a_question_is_shown_and_answered_once(tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text(BOARD)
    model = ScriptedModel(calls("order"), Turn(text="Done."))
    board = Pegboard(tmp_path / "board.yaml", model=model, tools=(order,))
    async with a_server(board) as url, patient(base_url=url) as client:
        async with client.stream("POST", "/chat", json={"message": "A shirt"}) as answer:
            seen = await read_events(answer, until="question_required")
        last, _, asked = seen[-1]
        run = f"/runs/{seen[0][2]['run_id']}"
        chat = f"/conversations/{asked['conversation']}"
        question = f"questions/{asked['question']}"
        (shown,) = (await client.get(run)).json()["questions"]
        wrong = await client.post(
            f"{chat}/{question}", json={"action": "accept", "content": {"size": "big"}}
        )
        unknown = await client.post(f"{chat}/questions/q_0", json={"action": "decline"})
        elsewhere = await client.post(f"/conversations/c_0/{question}", json={"action": "decline"})
        odd = await client.post(f"{chat}/{question}", json={"action": "shrug"})
        answered = await client.post(
            f"{chat}/{question}", json={"action": "accept", "content": {"size": 7}}
        )
        again = await client.post(f"{run}/{question}", json={"action": "decline"})
        path = f"{chat}/events"
        async with client.stream("GET", path, params={"after": last}) as answer:
            events = await read_events(answer)
        over = await client.post(f"{chat}/{question}", json={"action": "decline"})

    assert (shown["id"], shown["text"], shown["tool"]) == (
        asked["question"],
        "Which size?",
        "order",
    )
    assert shown["schema"] == asked["schema"]
    refused = [item.status_code for item in (wrong, unknown, elsewhere, again, over)]
    assert refused == [400, 404, 404, 409, 404]
    assert odd.status_code in {400, 422}
    assert answered.json() == {"id": asked["question"], "state": "accepted"}
    (settled,) = [data for _, kind, data in events if kind == "question_settled"]
    assert (settled["state"], settled["content"]) == ("accepted", {"size": 7})
    assert events[-1][2]["text"] == "Done."

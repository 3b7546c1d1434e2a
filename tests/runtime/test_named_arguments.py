"""In a conversation of a board, a person's own words decide what needs no question."""

from pathlib import Path

import pytest
from tests.runtime.people import found, invite
from tests.runtime.test_trust import read_mail, send_money

from pegboard.core.ports.approval_store import Approval
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn


@pytest.mark.slow
async def test_a_person_is_asked_about_what_the_message_does_not_name_alone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "board.yaml"
    path.write_text("sources: []")
    model = ScriptedModel(
        Turn(calls=(("read_mail", {}),)),
        Turn(calls=(("send_money", {"to": "Carla"}), ("send_money", {"to": "eve"}))),
        Turn(text="Carla is paid, eve is not: that failed."),
        Turn(text="Carla is paid, eve is not."),
    )
    asked: list[Approval] = []
    async with Pegboard(path, tools=(read_mail, send_money), model=model) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        message = NewMessage(text="Read my mail, then pay Carla.")
        sent = await board.conversations.send(message, principal=bob)
        async for event in board.conversations.follow(
            sent.conversation, until=sent.id, principal=bob
        ):
            if event.event == "approval_required":
                id_ = str(event.data["approval"])
                asked.append(await board.approvals.get(id_, principal=ada))
                await board.approvals.decide(id_, "deny", principal=ada)
        _, exchanges = await board.conversations.get(sent.conversation, principal=bob)

    assert [item.shown for item in asked] == [{"to": "eve"}]
    (origin,) = asked[0].origins
    assert (origin.argument, origin.origin, origin.tool) == ("to", "text", "read_mail")
    assert "sent to Carla" in str(exchanges[0].messages)

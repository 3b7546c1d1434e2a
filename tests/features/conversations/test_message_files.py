"""Files of messages, in the workspace of their conversation."""

from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import a_board, ask, text_of
from tests.features.files.made import chunks

from pegboard import Pegboard, ToolContext, tool
from pegboard.core.graph import Graph, Node
from pegboard.core.model_messages import UserMessage
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConversationNotFound, FileMissing, InvalidRequest
from pegboard.features.conversations import MessageFile, MessageUpload
from pegboard.features.conversations.message_files import write_files
from pegboard.features.conversations.views import render_markdown
from pegboard.features.files import NewUpload
from pegboard.testing import ScriptedModel, Turn

REPORT = MessageFile(name="report.csv", data=b"a,b\n1,2\n")


@tool(effect="read")
def list_files(ctx: ToolContext[Any]) -> str:
    """List the files of the workspace."""
    folder = ctx.workspace
    return (
        "none"
        if folder is None or not folder.is_dir()
        else ", ".join(sorted(f"{item.name}={item.read_text()!r}" for item in folder.iterdir()))
    )


LIST = Turn(calls=(("list_files", {}),))


async def test_files_of_a_message_are_where_its_tools_look(tmp_path: Path) -> None:
    turns = (LIST, Turn(text="Two columns.", expects=("report.csv='a,b",)), LIST, Turn(text="Yes."))
    async with a_board(tmp_path, *turns, tools=[list_files]) as (board, model):
        events, conversation = await ask(board, "What is this?", files=[REPORT])
        await ask(board, "Still there?", conversation=conversation)

    assert text_of(events) == "Two columns."
    question = model.requests[0].messages[-1]
    assert isinstance(question, UserMessage)
    assert question.text == ("What is this?\n\nFiles in the workspace: `report.csv` (8 bytes)")
    assert "report.csv=" in model.requests[3].messages[-1].text


async def test_a_stored_file_comes_with_a_message(tmp_path: Path) -> None:
    turns = (LIST, Turn(text="Two."))
    async with a_board(tmp_path, *turns, tools=[list_files]) as (board, model):
        file = await board.files.store("a [1].csv", chunks(b"a,b\n", b"1,2\n"), principal=LOCAL)
        given = [MessageUpload(id=file.id), MessageUpload(id=file.id, name="b.csv"), REPORT]
        await ask(board, "What is this?", files=given)
        await board.files.delete(file.id, principal=LOCAL)

    question = model.requests[0].messages[-1]
    assert isinstance(question, UserMessage)
    assert question.text.endswith(
        "`a _1_.csv` (8 bytes), `b.csv` (8 bytes), `report.csv` (8 bytes)"
    )
    for name in ("a _1_.csv", "b.csv", "report.csv"):
        assert f"{name}='a,b\\n1,2\\n'" in model.requests[1].messages[-1].text


async def test_a_file_that_is_not_there_comes_with_no_message(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="No.")) as (board, _):
        for principal in (LOCAL, Principal(id="eve")):
            upload = await board.files.uploads.begin(
                NewUpload(name="a", size=1), principal=principal
            )
            with pytest.raises(FileMissing):
                await ask(board, "What is this?", files=[REPORT, MessageUpload(id=upload.id)])
        theirs = await board.files.store("a", chunks(b"x"), principal=Principal(id="eve"))
        with pytest.raises(FileMissing):
            await ask(board, "What is this?", files=[MessageUpload(id=theirs.id)])
        page = await board.conversations.list(principal=LOCAL)

    assert list(page.conversations) == []


async def test_another_conversation_and_another_caller_have_other_workspaces(
    tmp_path: Path,
) -> None:
    turns = (Turn(text="Thanks."), LIST, Turn(text="Nothing."))
    async with a_board(tmp_path, *turns, tools=[list_files]) as (board, model):
        await ask(board, "Keep this.", files=[REPORT])
        await ask(board, "What is there?")

    assert model.requests[2].messages[-1].text == "none"


async def test_the_workspace_survives_a_restart_and_goes_with_its_conversation(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    async with a_board(tmp_path, Turn(text="Thanks."), data=data) as (board, _):
        _, conversation = await ask(board, "Keep this.", files=[REPORT])
    kept = [path.name for path in data.rglob("report.csv")]
    async with a_board(tmp_path, data=data) as (board, _):
        await board.conversations.delete(conversation, principal=LOCAL)

    assert kept == ["report.csv"]
    assert not list(data.rglob("report.csv"))


@pytest.mark.parametrize(
    "names",
    [["a/b"], ["../a"], [""], ["a`b"], ["x" * 201], ["a\n"], [".."], ["ok", ".hidden"]],
    ids=["a folder", "outside", "none", "a quote", "too long", "lines", "the parent", "hidden"],
)
async def test_a_name_that_is_none_of_a_file_is_refused(tmp_path: Path, names: list[str]) -> None:
    files = [MessageFile(name=name, data=b"") for name in names]
    async with a_board(tmp_path) as (board, _):
        with pytest.raises(InvalidRequest):
            await ask(board, "hi", files=files)


async def test_without_workspaces_files_are_refused() -> None:
    with pytest.raises(InvalidRequest):
        await write_files(None, [REPORT], "c", LOCAL)
    assert await write_files(None, [], "c", LOCAL) == ()


async def test_a_message_keeps_its_text_and_the_files_of_the_one_it_replaces(
    tmp_path: Path,
) -> None:
    more = MessageFile(name="more.txt", data=b"x")
    turns = (Turn(text="I see."), Turn(text="Better."))
    async with a_board(tmp_path, *turns) as (board, model):
        _, conversation = await ask(board, "Look.", files=[REPORT])
        known, (first,) = await board.conversations.get(conversation, principal=LOCAL)
        changes = {"conversation": known.id, "instead_of": first.id, "files": [more]}
        await ask(board, "Look closer.", **changes)
        second = (await board.conversations.get(conversation, principal=LOCAL))[1][1]
        listed = await board.conversations.workspaces.list(conversation, principal=LOCAL)
        exported = render_markdown(known, [first])

    assert (first.text, [file.name for file in first.files]) == ("Look.", ["report.csv"])
    assert (second.text, len(second.files)) == ("Look closer.", 2)
    assert (
        model.requests[1]
        .messages[-1]
        .text.endswith("Files in the workspace: `report.csv` (8 bytes), `more.txt` (1 bytes)")
    )
    assert [(file.path, file.size) for file in listed.files] == [
        ("more.txt", 1),
        ("report.csv", 8),
    ]
    assert "`report.csv` (8 bytes)" in exported


async def test_the_same_message_again_leaves_changed_files_alone(tmp_path: Path) -> None:
    @tool(effect="write")
    def change(ctx: ToolContext[Any]) -> str:
        """Change the report."""
        assert ctx.workspace is not None
        return str((ctx.workspace / "report.csv").write_text("changed"))

    turns = (Turn(calls=(("change", {}),)), Turn(text="Done."))
    async with a_board(tmp_path, *turns, tools=[change]) as (board, _):
        _, conversation = await ask(board, "Change it.", files=[REPORT], key="once")
        events, again = await ask(board, "Change it.", files=[REPORT], key="once")
        opened = await board.conversations.workspaces.open(
            conversation, "report.csv", principal=LOCAL
        )
        content = b"".join([chunk async for chunk in opened.chunks])

    assert again == conversation
    assert text_of(events) == "Done."
    assert content == b"changed"


async def test_files_are_for_the_owner_of_the_conversation_alone(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="Thanks.")) as (board, _):
        _, conversation = await ask(board, "Keep this.", files=[REPORT])
        workspaces, eve = board.conversations.workspaces, Principal(id="eve")
        with pytest.raises(ConversationNotFound):
            await workspaces.list(conversation, principal=eve)
        with pytest.raises(ConversationNotFound):
            await workspaces.open(conversation, "report.csv", principal=eve)
        with pytest.raises(ConversationNotFound, match=r"other\.csv"):
            await workspaces.open(conversation, "other.csv", principal=LOCAL)


async def test_a_graph_that_names_the_conversation_of_another_learns_nothing(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, model):
        _, conversation = await ask(board, "A secret.")
        _, (exchange,) = await board.conversations.get(conversation, principal=LOCAL)
        config = {"conversation": conversation, "message": exchange.id}
        asked = {"message": "What did they say?"}
        graph = Graph(nodes=(Node(id="agent", kind="agent", input=asked, config=config),))
        view = await board.runs.start_graph(graph, principal=Principal(id="eve"))
        ended = await board.runs.wait(view.id, principal=Principal(id="eve"))

    assert (ended.result.error or {})["code"] == "conversation_not_found"
    assert len(model.requests) == 1


async def test_a_folder_that_the_operator_named_stays_the_workspace(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    config = "sources: [{kind: builtin, name: std, config: {workspace: ours}}]\n"
    file.write_text(config)
    write = Turn(calls=(("std__file_write", {"path": "note.txt", "content": "one"}),))
    async with Pegboard(file, model=ScriptedModel(write, Turn(text="Written."))) as board:
        await ask(board, "Note it", files=[REPORT])

    assert [path.name for path in sorted(tmp_path.glob("ours/*"))] == ["note.txt"]  # noqa: ASYNC240 - a test


async def test_the_built_in_tools_for_files_work_there(tmp_path: Path) -> None:
    read = Turn(calls=(("builtin__file_read", {"path": "report.csv"}),))
    model = ScriptedModel(read, Turn(text="Two columns.", expects=("a,b",)))
    async with Pegboard(model=model) as board:
        events, _ = await ask(board, "What is this?", files=[REPORT])

    assert text_of(events) == "Two columns."

"""Requests of a client, in both eras."""

import asyncio
import base64
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from tests.assembly.systems import of_source
from tests.servers.mcp.made import RUNS, Records, a_client, a_server, until

from pegboard.core.principal import LOCAL, Principal
from pegboard.features.identity.accounts import LinkRequest, NewAccount
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.multi_round import KEY
from pegboard.servers.mcp.protocol_errors import RESOURCE_NOT_FOUND
from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.server import BoardServer


async def test_over_stdio_a_board_with_accounts_asks_for_a_key(
    board: Pegboard, records: Records
) -> None:
    new = await board.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
    account = NewAccount(
        link=new.token, handle="ada", password="correct horse", organisation="acme"
    )
    server = BoardServer(board)
    async with a_client(server, "legacy") as client:
        before = await client.call_tool("add", {"a": 1, "b": 2})
        user = await board.identity.accounts.join(account)
        with pytest.raises(MCPError, match="PEGBOARD_TOKEN"):
            await client.call_tool("add", {"a": 1, "b": 2})
    await server.close()
    ada = Principal(id=user.id, user=user.id)
    made = await board.identity.keys.make("ci", principal=ada)
    keyed = BoardServer(board, key=made.key)
    async with a_client(keyed, "legacy") as client:
        after = await client.call_tool("add", {"a": 3, "b": 4})
        await board.identity.keys.revoke(made.stored.id, principal=ada)
        with pytest.raises(MCPError, match="PEGBOARD_TOKEN"):
            await client.call_tool("add", {"a": 1, "b": 2})
    await keyed.close()

    assert (words(before), words(after)) == ("3", "7")
    assert [(call.principal.id, call.principal.kind) for call in records.calls] == [
        ("local", "local"),
        ("local", "agent"),
    ]


def words(result: Any) -> str:
    return "\n".join(item.text for item in result.content if item.type == "text")


async def test_a_call_gives_text_and_a_structured_value(client: Any, records: Records) -> None:
    result = await client.call_tool("add", {"a": 1, "b": "2"})

    assert (words(result), result.structured_content) == ("3", {"result": 3})
    assert not result.is_error
    assert [(call.tool, call.status) for call in records.calls] == [("add", "completed")]


async def test_an_object_without_a_promise_is_structured_as_it_is(client: Any) -> None:
    result = await client.call_tool("person", {})

    assert result.structured_content == {"name": "Ada"}


async def test_prose_in_the_place_of_a_promised_value_stays_prose(server: BoardServer) -> None:
    async with a_client(server, "2026-07-28") as client:
        result = await client.session.send_request(
            *_calling("prose")  # a client that checks would refuse what the tool did not keep
        )

    assert result.structured_content is None
    assert words(result) == "in prose"


def _calling(name: str) -> tuple[Any, Any]:
    from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

    return CallToolRequest(params=CallToolRequestParams(name=name, arguments={})), CallToolResult


async def test_wrong_arguments_are_a_result_that_says_precisely_what(
    client: Any, records: Records
) -> None:
    result = await client.call_tool("add", {"b": -1, "c": 2})

    assert result.is_error
    assert words(result).splitlines()[0] == "Invalid arguments for 'add':"
    assert "- a: " in words(result)
    assert "- b: " in words(result)
    assert "- c: " in words(result)
    assert records.calls[0].status == "invalid"


@pytest.mark.parametrize(
    ("name", "said", "never"),
    [
        ("refuse", "Order 17 is already shipped.", ""),
        ("crash", "'crash' failed. (error id e_", "db-7"),
        ("busy", "try again in 6.2 s", ""),
    ],
)
async def test_a_failed_call_is_a_result_with_a_safe_sentence(
    client: Any, name: str, said: str, never: str
) -> None:
    result = await client.call_tool(name, {})

    assert result.is_error
    assert said in words(result)
    assert result.structured_content is None
    assert not never or never not in words(result)


async def test_a_call_that_needs_an_approval_says_so(client: Any) -> None:
    result = await client.call_tool("refund", {"invoice": 1})

    assert result.is_error
    assert "Approval needed" in words(result)


async def test_an_unknown_tool_is_an_error_of_the_protocol_with_the_nearest(
    client: Any, records: Records
) -> None:
    with pytest.raises(MCPError, match="Did you mean 'add'") as caught:
        await client.call_tool("ad", {})

    assert caught.value.code == INVALID_PARAMS
    assert [call.status for call in records.calls] == ["invalid"]


async def test_a_tool_that_the_policy_denies_says_so_with_the_reason_and_the_code(
    client: Any, records: Records
) -> None:
    result = await client.call_tool("the_secret", {"key": "k"})

    assert result.is_error
    assert words(result).startswith("Access to 'the_secret' denied: ")
    assert result.meta["pegboard/error"] == {
        "code": "access_denied",
        "message": words(result),
        "retryable": False,
    }
    assert [call.status for call in records.calls] == ["denied"]


async def test_a_tool_outside_the_part_is_not_found_and_does_not_run(
    board: Pegboard, era: str
) -> None:
    async with (
        a_server(board, selection=BoardSelection(only=("add*",))) as server,
        a_client(server, era) as client,
    ):
        listed = await client.list_tools()
        with pytest.raises(MCPError, match="not found"):
            await client.call_tool("note", {"text": "x"})
        with pytest.raises(MCPError, match="not found") as caught:
            await client.call_tool("nota", {})

    assert [item.name for item in listed.tools] == ["add"]
    assert RUNS == []
    assert "note" not in caught.value.message


async def test_each_kind_of_content_arrives(client: Any) -> None:
    result = await client.call_tool("everything", {})

    text, image, sound, own, data, link = result.content
    assert text.text == "half a pair: \\ud800"
    assert (image.type, base64.b64decode(image.data)) == ("image", b"\x89PNG")
    assert (sound.type, sound.mime_type) == ("audio", "audio/wav")
    assert (own.resource.uri, own.resource.text) == ("docs://a", "of a")
    assert base64.b64decode(data.resource.blob) == b"\x00"
    assert (link.type, link.uri, link.mime_type) == ("resource_link", "docs://c", "text/plain")


async def test_a_large_result_is_paged_and_its_client_finds_it_valid(client: Any) -> None:
    await client.list_tools()  # so that the client checks results by their schemas

    result = await client.call_tool("long_list", {})

    structured = result.structured_content
    assert structured["truncated"] is True
    whole = await client.read_resource(structured["handle"])
    assert whole.contents[0].mime_type == "application/json"
    assert whole.contents[0].text.startswith("[0,1,2")
    assert whole.contents[0].text.endswith("999]")
    link = result.content[-1]
    assert (link.type, link.uri) == ("resource_link", structured["handle"])
    assert link.size == structured["total_bytes"]
    assert len(words(result)) < 700


async def test_a_file_is_a_link_that_its_owner_can_read(client: Any) -> None:
    result = await client.call_tool("report", {})

    link = result.content[-1]
    assert (link.type, link.name, link.mime_type, link.size) == (
        *("resource_link", "report.csv", "text/csv", 8),
    )
    contents = (await client.read_resource(link.uri)).contents
    assert contents[0].text == "a,b\n1,2\n"


async def test_results_that_are_not_there_are_not_found(client: Any) -> None:
    with pytest.raises(MCPError, match="Resource not found") as caught:
        await client.read_resource("pegboard://results/ffff")

    assert caught.value.data == {"uri": "pegboard://results/ffff"}


async def test_an_idempotency_key_gives_the_first_outcome_again(client: Any) -> None:
    meta: Any = {KEY: "k1"}

    first = await client.call_tool("note", {"text": "a"}, meta=meta)
    again = await client.call_tool("note", {"text": "a"}, meta=meta)
    other = await client.call_tool("note", {"text": "b"}, meta=meta)

    assert (words(first), words(again), RUNS) == ("note 1", "note 1", ["a"])
    assert other.is_error
    assert "was used for another call" in words(other)


async def test_an_idempotency_key_is_a_text(client: Any) -> None:
    meta: Any = {KEY: 7}

    with pytest.raises(MCPError, match="is a text of 1 to 255 characters") as caught:
        await client.call_tool("note", {"text": "a"}, meta=meta)

    assert caught.value.code == INVALID_PARAMS


async def test_resources_are_listed_read_and_recorded(client: Any, records: Records) -> None:
    listed = await client.list_resources()
    templates = await client.list_resource_templates()
    read = await client.read_resource("docs://handbook")
    page = await client.read_resource("pages://7")

    assert [item.uri for item in listed.resources] == ["docs://broken", "docs://handbook"]
    assert listed.resources[1].mime_type == "text/markdown"
    template = templates.resource_templates[0]
    assert (template.uri_template, template.title) == ("pages://{page}", "A page")
    assert template.annotations is not None
    assert (template.annotations.audience, template.annotations.priority) == (["assistant"], 0.5)
    assert read.contents[0].text == "# Handbook"
    assert page.contents[0].text == "page at pages://7"
    assert [call.handler for call in records.calls] == ["resource", "resource"]


@pytest.mark.parametrize("uri", ["docs://nothing", "docs://secret"])
async def test_a_resource_that_is_not_there_or_hidden_is_not_found(
    client: Any, era: str, uri: str
) -> None:
    with pytest.raises(MCPError, match="Resource not found") as caught:
        await client.read_resource(uri)

    assert caught.value.code == (RESOURCE_NOT_FOUND if era == "legacy" else INVALID_PARAMS)
    assert caught.value.data == {"uri": uri}


async def test_a_resource_that_cannot_be_read_says_why(client: Any) -> None:
    with pytest.raises(MCPError, match="The page is torn") as caught:
        await client.read_resource("docs://broken")

    assert caught.value.code == INTERNAL_ERROR
    assert caught.value.data["code"] == "tool_failed"


async def test_prompts_are_listed_and_filled_in(client: Any) -> None:
    listed = await client.list_prompts()
    filled = await client.get_prompt("review", {"code": "x = 1"})

    asking, shown = listed.prompts
    assert (asking.name, shown.name, shown.title) == ("ask_prompt", "review", "Review")
    assert [(item.name, item.required) for item in shown.arguments or []] == [
        *(("code", True), ("language", False)),
    ]
    assert filled.messages[0].content.text == "Review this python: x = 1"
    assert filled.description == "Ask for a review."


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nothing", {}, "Prompt 'nothing' not found"),
        ("review", {}, "code"),
        ("review", {"codes": "x"}, "codes"),
    ],
    ids=["unknown", "missing", "too much"],
)
async def test_a_prompt_that_cannot_be_filled_in_is_the_callers_to_mend(
    client: Any, name: str, arguments: dict[str, str], said: str
) -> None:
    with pytest.raises(MCPError, match=said) as caught:
        await client.get_prompt(name, arguments)

    assert caught.value.code == INVALID_PARAMS


async def test_places_of_a_template_are_completed_at_most_a_hundred_at_a_time(
    client: Any,
) -> None:
    from mcp_types import PromptReference, ResourceTemplateReference

    found = await client.complete(
        ResourceTemplateReference(uri="pages://{page}"), {"name": "page", "value": "4"}
    )
    none = await client.complete(PromptReference(name="review"), {"name": "code", "value": ""})
    with pytest.raises(MCPError, match="Prompt 'nothing' not found"):
        await client.complete(PromptReference(name="nothing"), {"name": "code", "value": ""})
    with pytest.raises(MCPError, match="Resource not found"):
        await client.complete(
            ResourceTemplateReference(uri="docs://{nothing}"), {"name": "page", "value": ""}
        )

    assert (len(found.completion.values), found.completion.total) == (100, 150)
    assert found.completion.has_more
    assert none.completion.values == []


async def test_many_calls_run_at_once(client: Any) -> None:
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(client.call_tool("add", {"a": n, "b": 1})) for n in range(50)]

    assert [words(call.result()) for call in calls] == [str(n + 1) for n in range(50)]


async def test_a_cancelled_call_is_recorded_as_cancelled(client: Any, records: Records) -> None:
    calling = asyncio.create_task(client.call_tool("wait", {}))
    await until(lambda: RUNS == ["began"])

    calling.cancel()
    await asyncio.wait((calling,))
    await until(lambda: bool(records.calls))

    assert [(call.tool, call.status) for call in records.calls] == [("wait", "cancelled")]
    assert words(await client.call_tool("add", {"a": 1, "b": 2})) == "3"


async def test_what_breaks_in_the_door_shows_an_id_alone(
    board: Pegboard, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Torn:
        spec = board.registry.offers.prompts()[0].prompt.spec

        async def fill(self, *_: Any) -> Any:
            raise AssertionError

        async def complete(self, *_: Any) -> Any:
            raise RuntimeError("db-7.internal is down")

    from mcp_types import PromptReference

    board.registry.offers.replace("", resources=(), prompts=[Torn()])
    with pytest.raises(MCPError, match=r"Something went wrong in the server \(e_") as caught:
        await client.complete(PromptReference(name="review"), {"name": "code", "value": ""})

    assert "db-7" not in str(caught.value.data)
    assert "db-7.internal is down" in caplog.text


@pytest.mark.parametrize("era", ["legacy", "auto"])
@pytest.mark.parametrize("own", ["", "crm"])
async def test_a_long_name_is_cut_and_both_are_called(
    board: Pegboard, records: Records, era: Any, own: str
) -> None:
    actions = [f"list_dependencies_of_issues_of_one_repository_{end}" for end in ("here", "there")]
    for action in actions:
        board.registry.add(of_source("crm", action, "functions"))
    server = BoardServer(board, selection=BoardSelection(own=own))
    async with a_client(server, era) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        cut = [name for name in listed if "_x" in name]
        called = [words(await client.call_tool(name, {})) for name in (*cut, f"crm__{actions[0]}")]
        with pytest.raises(MCPError, match="not found"):
            await client.call_tool(f"{cut[0][:-1]}g", {})
        with pytest.raises(MCPError, match="not found"):
            await client.call_tool(f"{cut[0][:-8]}00000000", {})
    await server.close()

    assert [len(name) for name in cut] == [48, 48]
    assert set(called) == {f"crm__{action}" for action in actions}
    assert {call.tool for call in records.calls if call.status == "completed"} == set(called)

"""What is still to be answered when a client has nothing more to say."""

import asyncio
from typing import Any

import pytest
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter

from pegboard.servers.mcp.stdio.pending_requests import PendingRequests


def message(**fields: Any) -> JSONRPCMessage:
    return jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **fields})


def asked(key: Any, method: str = "tools/call") -> JSONRPCMessage:
    return message(id=key, method=method)


def answer_with(unanswered: PendingRequests, answer: JSONRPCMessage) -> None:
    unanswered.release(answer)
    unanswered.settle(answer)


async def is_waiting(unanswered: PendingRequests) -> bool:
    began = asyncio.get_running_loop().time()
    await unanswered.wait(0.05)
    return asyncio.get_running_loop().time() - began > 0.04


@pytest.mark.parametrize(
    "answer", [message(id="a", result={}), message(id="a", error={"code": 1, "message": ""})]
)
async def test_a_request_is_open_until_it_is_answered(answer: JSONRPCMessage) -> None:
    unanswered = PendingRequests()
    unanswered.track(asked("a"))
    unanswered.track(asked(1))
    answer_with(unanswered, message(id=1, result={}))
    assert await is_waiting(unanswered)

    answer_with(unanswered, answer)

    assert not await is_waiting(unanswered)


async def test_a_request_that_is_taken_back_is_not_answered() -> None:
    unanswered = PendingRequests()
    unanswered.track(asked(1))
    for params in (None, {"requestId": [1]}, {"requestId": 2}):
        unanswered.track(message(method="notifications/cancelled", params=params))
    assert await is_waiting(unanswered)

    unanswered.track(message(method="notifications/cancelled", params={"requestId": 1}))

    assert not await is_waiting(unanswered)


async def test_nothing_else_keeps_anybody_waiting() -> None:
    unanswered = PendingRequests()
    unanswered.track(asked(1, "subscriptions/listen"))
    unanswered.track(message(method="notifications/initialized"))
    unanswered.track(message(id=7, result={}))
    answer_with(unanswered, asked(8, "sampling/createMessage"))
    answer_with(unanswered, message(method="notifications/message", params={}))

    assert not await is_waiting(unanswered)


async def test_an_id_is_taken_until_its_request_is_answered_or_taken_back() -> None:
    unanswered = PendingRequests()
    unanswered.track(asked(1))
    unanswered.track(asked("listening", "subscriptions/listen"))

    assert unanswered.has(1)
    assert unanswered.has("1")
    assert unanswered.has("listening")
    assert not unanswered.has(2)

    unanswered.release(message(method="notifications/message", params={}))
    unanswered.release(message(id=1, result={}))
    unanswered.track(message(method="notifications/cancelled", params={"requestId": "listening"}))

    assert not unanswered.has("1")
    assert not unanswered.has("listening")


async def test_an_id_that_is_used_again_while_its_answer_is_written_is_open() -> None:
    unanswered = PendingRequests()
    unanswered.track(asked(1))
    unanswered.release(message(id=1, result={}))
    unanswered.track(asked(1))
    unanswered.settle(message(id=1, result={}))

    assert unanswered.has(1)
    assert await is_waiting(unanswered)

    unanswered.release(message(id=1, result={}))
    unanswered.settle(message(id=1, result={}))

    assert not await is_waiting(unanswered)

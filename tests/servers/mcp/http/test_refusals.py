"""What is refused before the SDK sees it, in the words of the protocol."""

import json

import pytest

from pegboard.servers.mcp.http.refusals import refusal


@pytest.mark.parametrize("number", [None, 7, "seven"])
def test_a_refusal_is_an_error_of_json_rpc_with_the_id_of_its_request(
    number: str | int | None,
) -> None:
    answer = refusal(429, -32600, "Later.", request_id=number)

    assert answer.status_code == 429
    assert answer.media_type == "application/json"
    assert json.loads(bytes(answer.body)) == {
        "jsonrpc": "2.0",
        "id": number,
        "error": {"code": -32600, "message": "Later."},
    }

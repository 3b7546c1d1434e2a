import pytest

from pegboard.core.context import ToolContext
from pegboard.core.principal import Principal
from pegboard.tools.call_headers import CallHeaders, check_text, is_of_call

CTX = ToolContext(
    call_id="c-1",
    run_id="r-1",
    tool="shop__buy",
    idempotency_key="k",
    principal=Principal(id="ann", tenant="t"),
)


def test_a_header_says_what_call_it_goes_with() -> None:
    headers = CallHeaders({"X-Team": "blue", "X-Id": "{call.id}", "X-Is": "{call.tool} {call.id}"})

    assert headers.varies
    assert headers.fixed == {"X-Team": "blue"}
    assert headers.for_call(CTX) == {"X-Team": "blue", "X-Id": "c-1", "X-Is": "shop__buy c-1"}
    assert headers.for_call(None) == {"X-Team": "blue"}


def test_a_header_that_has_nothing_to_say_is_left_out() -> None:
    headers = CallHeaders({"X-Parent": "from {call.parent_id}", "X-Run": "{call.run_id}"})

    assert headers.for_call(CTX) == {"X-Run": "r-1"}


def test_headers_without_a_call_are_what_was_written() -> None:
    headers = CallHeaders({"X-Json": '{"a": "{call}", "b": {}}'})

    assert not headers.varies
    assert headers.for_call(CTX) is headers.fixed
    assert headers.fixed == {"X-Json": '{"a": "{call}", "b": {}}'}


def test_a_key_is_the_same_for_the_same_call_and_no_two_callers_share_one() -> None:
    headers = CallHeaders({"Idempotency-Key": "{call.idempotency_key}"})
    bob = Principal(id="bob", tenant="t")

    def key(**changes: object) -> str:
        fields = {"tool": "shop__buy", "idempotency_key": "k", "principal": CTX.principal}
        made: ToolContext[None] = ToolContext(**(fields | changes))  # type: ignore[arg-type] # as each case says
        return headers.for_call(made).get("Idempotency-Key", "")

    assert key() == key(call_id="another") == headers.for_call(CTX)["Idempotency-Key"]
    others = {key(), key(principal=bob), key(tool="shop__sell"), key(idempotency_key="l")}
    assert len(others) == 4
    assert {len(item) for item in others} == {32}
    assert key(idempotency_key=None) == ""


def test_nothing_that_a_caller_says_leaves_its_header() -> None:
    headers = CallHeaders({"X-Run": "{call.run_id}"})

    assert (
        headers.for_call(ToolContext(run_id="a\r\nX-Evil: 1 ü"))["X-Run"]
        == "a%0D%0AX-Evil: 1 %C3%BC"
    )
    assert len(headers.for_call(ToolContext(run_id="x" * 1000))["X-Run"]) == 200


def test_what_the_operator_wrote_is_known_so_that_it_can_be_masked() -> None:
    headers = CallHeaders(
        {"X-Key": "secret-1", "X-Sig": "secret-2/{call.id}", "X-Id": "a-{call.id}"}
    )

    assert headers.literals == ("secret-1", "secret-2/")


@pytest.mark.parametrize("name", ["principal", "user", "tenant", "", "ID"])
def test_what_there_is_not_is_told_with_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match=r"there is no \{call\..*known are \{call.id\}"):
        check_text(f"a {{call.{name}}}")


def test_a_text_that_is_all_of_the_call_has_no_secret() -> None:
    assert is_of_call("{call.idempotency_key}")
    assert not is_of_call("hush {call.id}")
    assert check_text("hush {call.id}") == "hush {call.id}"

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from pegboard import ToolContext, tool
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.registry import ToolRegistry
from pegboard.sandbox import ProbedSandbox
from pegboard.sources.builtin import KIND, BuiltinConfig, bind_tools
from pegboard.sources.builtin.sandbox_access import why_no_code
from pegboard.sources.builtin.tools.python_exec import availability, probe, python_exec
from pegboard.tools import SchemaTool


@tool(effect="read")
async def greet(name: str, ctx: ToolContext[str]) -> str:
    """Greet somebody."""
    return f"Hello {name}, says {ctx.principal.id} of {ctx.deps}!"


@tool(effect="read")
def orders(at_least: int = 0) -> list[dict[str, int]]:
    """All orders."""
    return [{"id": n, "total": 10 * n} for n in range(5) if 10 * n >= at_least]


@pytest.fixture
async def registry() -> AsyncIterator[ToolRegistry]:
    sandbox = ProbedSandbox(allowed=["monty"])
    if reason := await why_no_code(Services(sandbox=sandbox)):
        pytest.skip(reason)
    yield ToolRegistry([greet, orders, *bind_tools(Services(sandbox=sandbox))])
    await sandbox.close()


async def run(registry: ToolRegistry, code: str, **arguments: Any) -> Any:
    ctx = ToolContext(deps="the shop", principal=Principal(id="ada"))
    result = await registry.call("python_exec", {"code": code, **arguments}, ctx)
    return result.unwrap()


async def test_code_gives_its_value_and_what_it_printed(registry: ToolRegistry) -> None:
    result = await run(registry, "print('hi')\n{'n': n + 1}", inputs={"n": 1})

    assert result == {"value": {"n": 2}, "printed": "hi\n", "printed_truncated": False}


async def test_code_calls_tools_as_whoever_called_it(registry: ToolRegistry) -> None:
    code = "[call_tool('greet', {'name': 'Bob'}), sum(o['total'] for o in call_tool('orders'))]"

    result = await run(registry, code)

    assert result["value"] == ["Hello Bob, says ada of the shop!", 100]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("call_tool('orderz')", "Tool 'orderz' not found. Did you mean 'orders'"),
        ("call_tool('orders', {'at_least': 'x'})", "Invalid arguments for 'orders'"),
        ("call_tool('orders', {'from': 1})", "Invalid arguments for 'orders'"),
        ("call_tool('orders', 7)", "RuntimeError"),
    ],
)
async def test_a_tool_that_fails_is_an_exception_in_the_code(
    registry: ToolRegistry, call: str, told: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await run(registry, call)

    assert told in str(caught.value)
    assert "line 1" in str(caught.value)


async def test_what_is_denied_stays_denied(registry: ToolRegistry) -> None:
    from dataclasses import replace

    from pegboard.access import Policy

    registry.apply(replace(registry.environment, policy=Policy(deny=("orders",))))

    with pytest.raises(InvalidRequest, match="Access to 'orders' denied"):
        await run(registry, "call_tool('orders')")


async def test_code_may_call_itself_only_as_deep_as_its_time(registry: ToolRegistry) -> None:
    code = "call_tool('python_exec', {'code': '1 + 1'})['value']"

    assert (await run(registry, code))["value"] == 2


async def test_a_mistake_is_told_with_its_line_and_what_was_printed(registry: ToolRegistry) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await run(registry, "print('so far')\n1 / 0")

    assert str(caught.value) == (
        "The code failed:   line 2, in <module>\n    1 / 0\n    ~~~~~\n"
        "ZeroDivisionError: division by zero\nBefore that it printed:\nso far\n"
    )


@pytest.mark.parametrize(
    ("code", "seconds", "told"),
    [
        ("while True: pass", 0.5, "it took more than 0.5 s"),
        ("'a' * 10**10", 30, "it needs more than 128 MB"),
    ],
)
async def test_code_that_is_stopped_says_why(
    registry: ToolRegistry, code: str, seconds: float, told: str
) -> None:
    with pytest.raises(InvalidRequest, match=f"^The code was stopped: {told}"):
        await run(registry, code, timeout_seconds=seconds)


async def test_a_name_that_code_cannot_use_is_refused(registry: ToolRegistry) -> None:
    with pytest.raises(InvalidRequest, match="'a b' in 'inputs' is not a name"):
        await run(registry, "1", inputs={"a b": 1})


async def test_much_output_is_cut_and_said_to_be(registry: ToolRegistry) -> None:
    result = await run(registry, "print('x' * 300000)\n1")

    assert (len(result["printed"]), result["printed_truncated"]) == (20_000, True)


async def test_without_a_registry_there_is_no_tool_to_call(registry: ToolRegistry) -> None:
    services = registry.get("python_exec")

    with pytest.raises(InvalidRequest, match="name 'call_tool' is not defined"):
        await services.run({"code": "call_tool('x')"}, ToolContext())


async def test_parts_that_are_no_text_arrive_as_text() -> None:
    from pegboard.core.result import ImagePart, TextPart, ToolResult
    from pegboard.core.tool import ToolSpec

    async def draw(_: Mapping[str, Any], __: ToolContext[Any]) -> ToolResult:
        return ToolResult(
            content=(TextPart(text="see"), ImagePart(data=b"x", media_type="image/x"))
        )

    sandbox = ProbedSandbox(allowed=["monty"])
    if reason := await sandbox.why_no_code():
        pytest.skip(reason)
    spec = ToolSpec(name="draw", input_schema={"type": "object", "properties": {}})
    board = ToolRegistry([SchemaTool(spec=spec, run=draw), *bind_tools(Services(sandbox=sandbox))])

    result = await run(board, "call_tool('draw')")
    await sandbox.close()

    assert result["value"] == "see\n[image/x, 1 bytes]"


async def test_without_a_sandbox_it_says_so() -> None:
    assert "needs a sandbox" in availability(Services())
    assert await probe(Services()) == ""
    with pytest.raises(SourceUnavailable, match="needs a sandbox"):
        await python_exec("1", ToolContext(deps=Services()))


async def test_a_sandbox_that_does_not_work_makes_it_unavailable_with_the_reason() -> None:
    sandbox = ProbedSandbox(allowed=[])
    config = BuiltinConfig(include=("python_exec", "shell_exec"))

    source = await KIND.open("b", config, Services(sandbox=sandbox))

    reasons = {item.spec.action: item.spec.unavailable for item in await source.tools()}
    assert reasons.keys() == {"python_exec", "shell_exec"}
    assert all("names none for this" in reason for reason in reasons.values())

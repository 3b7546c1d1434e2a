"""A host that lets only so many calls run at once."""

import asyncio

from pegboard import ToolContext, ToolRegistry, tool
from pegboard.core.principal import LOCAL
from pegboard.engines.react.bounded_host import BoundedHost

NOW = {"running": 0, "most": 0}


@tool(effect="read")
async def work(n: int) -> int:
    """Work."""
    NOW["running"] += 1
    NOW["most"] = max(NOW["most"], NOW["running"])
    await asyncio.sleep(0.01)
    NOW["running"] -= 1
    return n


async def test_calls_beyond_the_limit_wait_and_are_made() -> None:
    registry = ToolRegistry([work])
    host = BoundedHost(registry, most=3)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(host.call("work", {"n": n}, ToolContext())) for n in range(10)]

    assert [task.result().unwrap() for task in tasks] == list(range(10))
    assert NOW["most"] == 3


def test_the_rest_is_the_hosts_own() -> None:
    registry = ToolRegistry([work])
    host = BoundedHost(registry, most=1)

    assert host.find("work") is registry.find("work")
    assert host.nearest("wrok", LOCAL) == ("work",)
    assert host.environment is registry.environment

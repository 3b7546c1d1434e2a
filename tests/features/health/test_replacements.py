"""Stand-ins for tools that are there, and for tools that went."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegboard import Policy, ToolRegistry
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.errors import SourceUnavailable, ToolNotFound
from pegboard.features.health import Replacements
from pegboard.runtime import Pegboard
from pegboard.tools import SchemaTool

DOWN = Health(status=HealthStatus.UNHEALTHY, reason="HTTP 503")


def searching(name: str, *capabilities: str) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    spec = ToolSpec(
        name=name,
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        capabilities=capabilities or ("search",),
        effect=Effect.READ,
    )
    return SchemaTool(spec=spec, run=run)


def made(*names: str, deny: str = "", **health: Health) -> tuple[ToolRegistry, Replacements]:
    policy = Policy(deny=(deny,) if deny else ())
    registry = ToolRegistry(map(searching, names), policy=policy)
    told = {f"{name}_v1": doing for name, doing in health.items()}
    return registry, Replacements(registry, health=lambda id_: told.get(id_, HEALTHY))


def test_each_proposal_says_why() -> None:
    registry, replacements = made("google", "bing", google=DOWN)
    registry.add(searching("painter", "paint"))

    assert replacements.find("google", principal=LOCAL).to_dict() == {
        "tool_id": "google_v1",
        "name": "google",
        "is_gone": False,
        "status": "unhealthy",
        "reason": "HTTP 503",
        "capabilities": ["search"],
        "proposals": [
            {
                "tool_id": "bing_v1",
                "name": "bing",
                "score": 1.0,
                "is_certain": True,
                "reasons": [
                    "has the capability search",
                    "takes and gives all that this one does",
                    "is healthy",
                ],
                "input_mapping": {},
                "status": "healthy",
            }
        ],
    }


@pytest.mark.parametrize("name", ["google", "google_v1"])
def test_a_tool_that_went_is_known_by_its_name_and_its_id(name: str) -> None:
    registry, replacements = made("google", "bing")
    replacements.refresh()
    registry.remove("google")

    before = replacements.find(name, principal=LOCAL)
    replacements.refresh()
    after = replacements.find(name, principal=LOCAL)

    assert before == after
    assert (after.is_gone, after.health.reason) == (True, "there is no such tool")
    assert [item.tool.name for item, _ in after.proposals] == ["bing"]
    assert [spec.name for spec in replacements.find_certain(name, principal=LOCAL)] == ["bing"]


def test_a_tool_that_is_back_is_gone_no_longer() -> None:
    registry, replacements = made("google")
    replacements.refresh()
    registry.remove("google")
    replacements.refresh()
    registry.add(searching("google"))
    replacements.refresh()

    assert not replacements.find("google", principal=LOCAL).is_gone
    assert replacements._gone == {}


def test_only_the_last_thousand_that_went_are_known() -> None:
    registry, replacements = made(*(f"t{number}" for number in range(1_001)), "bing")
    replacements.refresh()
    for number in range(1_001):
        registry.remove(f"t{number}")
    replacements.refresh()

    assert replacements.find_certain("t0", principal=LOCAL) == ()
    assert [spec.name for spec in replacements.find_certain("t1000", principal=LOCAL)] == ["bing"]


def test_what_a_caller_may_not_see_is_neither_told_of_nor_proposed() -> None:
    registry, replacements = made("google", "secret", deny="secret")
    replacements.refresh()
    with pytest.raises(ToolNotFound) as while_there:
        replacements.find("secret", principal=LOCAL)
    proposals = replacements.find("google", principal=LOCAL).proposals
    registry.remove("secret")
    with pytest.raises(ToolNotFound) as when_gone:
        replacements.find("secret", principal=LOCAL)

    assert proposals == ()
    assert while_there.value.message == when_gone.value.message


@pytest.mark.parametrize(
    ("why", "error"), [("", ToolNotFound), ("source 'web' is down", SourceUnavailable)]
)
def test_of_what_was_never_there_nothing_is_proposed(why: str, error: type[Exception]) -> None:
    registry, replacements = made("google")
    registry.apply(replace(registry.environment, why_missing=lambda _name: why))

    with pytest.raises(error):
        replacements.find("bing", principal=LOCAL)
    assert replacements.find_certain("bing", principal=LOCAL) == ()


@pytest.mark.parametrize("name", ["greeter", "greeter_v1", "greeter_v2"])
async def test_a_registered_tool_that_was_removed_is_known_after_a_restart(
    tmp_path: Path, name: str
) -> None:
    board, data = tmp_path / "board.yaml", tmp_path / "data"
    board.write_text("sources: [{kind: builtin}]\n")
    entry = {"tool_id": "greeter_v1", "type": "RestAPI", "capabilities": ["greet"]}
    other = {"tool_id": "welcomer_v1", "type": "RestAPI", "capabilities": ["greet"]}
    async with Pegboard(board, data=data) as before:
        for definition in (entry, {**entry, "tool_id": "greeter_v2"}, other):
            await before.catalogue.register([definition], principal=LOCAL)
        await before.catalogue.remove("greeter", principal=LOCAL)
    async with Pegboard(board, data=data) as after:
        found = after.tool_health.replacements.find(name, principal=LOCAL)
        with pytest.raises(ToolNotFound):
            after.tool_health.replacements.find("greeter_v3", principal=LOCAL)

    assert (found.is_gone, found.tool.capabilities) == (True, ("greet",))
    assert found.tool.id == {"greeter_v1": "greeter_v1"}.get(name, "greeter_v2")

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from pydantic import BaseModel, ConfigDict

from pegboard.core.context import ToolContext
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.tool import Tool, ToolSpec
from pegboard.testing.source_contract import SourceContract
from pegboard.tools import SchemaTool

CLOSED = {
    "type": "object",
    "properties": {"x": {"$ref": "#/$defs/X"}},
    "additionalProperties": False,
    "$defs": {"X": {"type": "integer"}},
}


class ShopConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = ""


class OpenConfig(BaseModel):
    url: str = ""


async def run(_: Mapping[str, Any], __: ToolContext[Any]) -> None:
    return None


def spec(**changes: Any) -> ToolSpec:
    fields: dict[str, Any] = {
        "name": "shop__buy",
        "description": "Buy it.",
        "source": "shop",
        "input_schema": CLOSED,
    }
    return ToolSpec(**(fields | changes))


class Raw:
    """A tool that shows its schema as it is."""

    def __init__(self, shown: ToolSpec) -> None:
        self.spec = shown
        self.run = run


class Shop:
    """A source that keeps the contract; each test breaks one promise of it."""

    def __init__(self, *tools: Any, name: str = "shop") -> None:
        self.name = name
        self._tools = tools or (Raw(spec()), SchemaTool(spec=spec(name="shop__sell"), run=run))

    async def tools(self) -> Sequence[Tool]:
        return self._tools

    async def health(self) -> Health:
        return HEALTHY

    async def close(self) -> None:
        pass

    def on_change(self, notify: Callable[[], None]) -> None:
        pass


async def open_shop(_: str, __: ShopConfig, ___: Services) -> Source:
    return Shop()


KIND = SourceKind(kind="shop", title="A shop", config=ShopConfig, open=open_shop)


class TestAShop(SourceContract):
    kind = KIND
    least_tools = 2

    async def open_source(self) -> Source:
        return await KIND.open("shop", ShopConfig(), Services())


def contract(source: Any, *, of_kind: SourceKind = KIND, least: int = 1) -> Any:
    class Contract(SourceContract):
        kind = of_kind
        least_tools = least

        async def open_source(self) -> Source:
            return cast("Source", source)

    return Contract()


class Changing(Shop):
    async def tools(self) -> Sequence[Tool]:
        self._count = getattr(self, "_count", 0) + 1
        return (Raw(spec(description=f"Asked {self._count} times.")),)


class Restless(Shop):
    def on_change(self, notify: Callable[[], None]) -> None:
        notify()


class Once(Shop):
    closed = False

    async def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


class Fragile(Shop):
    closed = False

    async def close(self) -> None:
        self.closed = True

    async def health(self) -> Health:
        if self.closed:
            raise RuntimeError("no connection")
        return HEALTHY


class Silent(Shop):
    async def health(self) -> Health:
        return Health(status=HealthStatus.DEGRADED)


class Renewed(Raw):
    @property
    def spec(self) -> ToolSpec:
        return spec()

    @spec.setter
    def spec(self, _: ToolSpec) -> None:
        pass


def forced(effect: str) -> ToolSpec:
    """A spec that its own check did not see."""
    made = spec()
    object.__setattr__(made, "effect", effect)
    return made


BROKEN: dict[str, tuple[Any, str]] = {
    "no tools at all": (contract(Shop(), least=3), "test_it_lists_enough_tools"),
    "not a tool": (contract(Shop("buy")), "test_its_tools_are_tools"),
    "a new spec each time": (contract(Shop(Renewed(spec()))), "test_its_tools_are_tools"),
    "a bad source name": (contract(Shop(name="a__b")), "test_the_name_is_a_source_name"),
    "a bare name": (
        contract(Shop(Raw(spec(name="buy")))),
        "test_names_are_unique_wire_names_of_this_source",
    ),
    "another source's name": (
        contract(Shop(Raw(spec(name="bank__buy")))),
        "test_names_are_unique_wire_names_of_this_source",
    ),
    "an illegal name": (
        contract(Shop(Raw(spec(name="shop__bu y")))),
        "test_names_are_unique_wire_names_of_this_source",
    ),
    "a name twice": (
        contract(Shop(Raw(spec()), Raw(spec()))),
        "test_names_are_unique_wire_names_of_this_source",
    ),
    "no description": (contract(Shop(Raw(spec(description=" ")))), "test_specs_are_complete"),
    "no origin": (contract(Shop(Raw(spec(source="")))), "test_specs_are_complete"),
    "an effect of its own": (contract(Shop(Raw(forced("buy")))), "test_effects_are_set"),
    "an open schema": (
        contract(Shop(Raw(spec(input_schema={"type": "object"})))),
        "test_input_schemas_are_closed_objects",
    ),
    "no object": (
        contract(Shop(Raw(spec(input_schema={"type": "string"})))),
        "test_input_schemas_are_closed_objects",
    ),
    "a broken schema": (
        contract(Shop(Raw(spec(input_schema=CLOSED | {"required": "x"})))),
        "test_schemas_are_valid_and_need_no_network",
    ),
    "a broken output schema": (
        contract(Shop(Raw(spec(output_schema={"type": "nothing"})))),
        "test_schemas_are_valid_and_need_no_network",
    ),
    "a reference outside": (
        contract(Shop(Raw(spec(input_schema=CLOSED | {"$ref": "https://a.example/s.json"})))),
        "test_schemas_are_valid_and_need_no_network",
    ),
    "a reference to nothing": (
        contract(Shop(Raw(spec(input_schema=CLOSED | {"$ref": "#/$defs/Y"})))),
        "test_schemas_are_valid_and_need_no_network",
    ),
    "an older draft": (
        contract(
            Shop(Raw(spec(input_schema=CLOSED | {"$schema": "http://json-schema.org/draft-07/schema#"})))
        ),
        "test_schemas_are_valid_and_need_no_network",
    ),
    "another listing each time": (contract(Changing()), "test_listing_twice_gives_equal_specs"),
    "no reason": (contract(Silent()), "test_health_answers_with_a_reason_unless_it_is_fine"),
    "a call for nothing": (contract(Restless()), "test_a_listener_for_changes_is_taken"),
    "an open config": (
        contract(Shop(), of_kind=replace(KIND, config=OpenConfig)),
        "test_the_config_is_frozen_and_closed",
    ),
    "no title": (contract(Shop(), of_kind=replace(KIND, title="")), "test_the_kind_is_complete"),
}  # fmt: skip


@pytest.mark.parametrize(("broken", "test"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_promise_is_found(broken: Any, test: str) -> None:
    with pytest.raises(AssertionError):
        getattr(broken, test)()


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (contract(Once()), "test_closing_twice_is_harmless"),
        (contract(Fragile()), "test_health_does_not_raise_after_closing"),
    ],
)
def test_what_a_source_raises_is_seen(broken: Any, test: str) -> None:
    with pytest.raises(RuntimeError):
        getattr(broken, test)()


def test_a_source_that_hangs_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pegboard.testing.source_contract._DEADLINE", 0.05)

    class Hanging(Shop):
        async def tools(self) -> Sequence[Tool]:
            return await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        contract(Hanging()).test_it_lists_enough_tools()

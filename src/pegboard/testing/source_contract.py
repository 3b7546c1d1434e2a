"""What every source promises, as tests that a source's own test inherits."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, cast

from pegboard.core.health import Health, HealthStatus
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.tool import Effect, Status, Tool, ToolSpec
from pegboard.core.wire_names import is_source_name, is_wire_name, split_wire_name

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_DEADLINE = 30.0
_Answer = TypeVar("_Answer")


class SourceContract:
    """Inherit from this in a test class, say which kind it is, and open one instance.

    ```python
    class TestShopSource(SourceContract):
        kind = KIND

        async def open_source(self) -> Source:
            return await KIND.open("shop", ShopConfig(url="..."), Services())
    ```

    Needs pytest and nothing else: each test runs its own event loop, opens a source of its own and
    closes it. What a test must prepare belongs in `open_source` or in a synchronous fixture.

    Attributes:
        kind: What the source's folder exposes as `KIND`.
        least_tools: How many tools the opened instance lists at least.
    """

    kind: ClassVar[SourceKind]
    least_tools: ClassVar[int] = 1

    async def open_source(self) -> Source:
        """A freshly opened instance that has at least `least_tools` tools."""
        raise NotImplementedError

    def test_the_kind_is_complete(self) -> None:
        """`board.yaml` and the console can name and describe it."""
        assert is_source_name(self.kind.kind), f"{self.kind.kind!r} is no name for a kind"
        assert self.kind.title.strip(), "a kind has a title for people"

    def test_the_config_is_frozen_and_closed(self) -> None:
        """A misspelt key is an error, and a config cannot change after it was read."""
        config = self.kind.config.model_config
        assert config.get("extra") == "forbid", "the config model needs extra='forbid'"
        assert config.get("frozen") is True, "the config model needs frozen=True"

    def test_the_config_has_a_json_schema(self) -> None:
        """The console draws its form from it."""
        schema = self.kind.config.model_json_schema()
        problem = _schema_problem(schema)
        assert not problem, f"the config's JSON Schema: {problem}"

    def test_the_name_is_a_source_name(self) -> None:
        """It is the first part of every tool's wire name."""
        name = self._with(_name_of)
        assert is_source_name(name), f"{name!r} is not a source name"

    def test_its_tools_are_tools(self) -> None:
        """Each has a spec, the same object each time, and a `run`."""
        for tool in self._tools():
            assert isinstance(tool, Tool), f"{tool!r} is not a Tool"
            assert isinstance(tool.spec, ToolSpec), f"{tool!r} has no ToolSpec"
            assert tool.spec is tool.spec, f"{tool.spec.name} makes its spec anew on each access"

    def test_it_lists_enough_tools(self) -> None:
        """An instance that lists nothing proves nothing."""
        found = len(self._tools())
        assert found >= self.least_tools, f"{found} tools, expected at least {self.least_tools}"

    def test_names_are_unique_wire_names_of_this_source(self) -> None:
        """So that a name never depends on which other sources are on the board."""
        source = self._with(_name_of)
        names = [spec.name for spec in self._specs()]
        for name in names:
            assert is_wire_name(name), f"{name!r} is not a wire name"
            assert split_wire_name(name)[0] == source, f"{name!r} does not start with '{source}__'"
        assert len(names) == len(set(names)), f"a name is there twice: {sorted(names)}"

    def test_specs_are_complete(self) -> None:
        """A model and a person can read what each tool does and where it came from."""
        source = self._with(_name_of)
        for spec in self._specs():
            assert spec.description.strip(), f"{spec.name} has no description"
            assert spec.source == source, f"{spec.name} says that it came from {spec.source!r}"
            assert spec.id, f"{spec.name} has no id"
            assert spec.version, f"{spec.name} has no version"
            assert spec.category, f"{spec.name} has no category"
            assert isinstance(spec.status, Status), f"{spec.name} has no status"

    def test_effects_are_set(self) -> None:
        """What a tool does to the world decides whether it may run."""
        for spec in self._specs():
            assert isinstance(spec.effect, Effect), f"{spec.name}: {spec.effect!r} is no Effect"

    def test_input_schemas_are_closed_objects(self) -> None:
        """An unknown argument is refused, not dropped."""
        for spec in self._specs():
            schema = spec.input_schema
            assert schema.get("type") == "object", f"{spec.name}: its input is not an object"
            closed = (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))
            assert False in closed, f"{spec.name}: its input schema lets unknown arguments in"

    def test_schemas_are_valid_and_need_no_network(self) -> None:
        """Draft 2020-12, and every `$ref` leads into the schema itself."""
        for spec in self._specs():
            problem = _schema_problem(spec.input_schema)
            assert not problem, f"{spec.name}: input schema: {problem}"
            problem = _schema_problem(spec.output_schema) if spec.output_schema else ""
            assert not problem, f"{spec.name}: output schema: {problem}"

    def test_specs_are_plain_data(self) -> None:
        """Doors, the console and the history write them as JSON."""
        import msgspec

        for spec in self._specs():
            data = spec.to_dict()
            assert msgspec.json.decode(msgspec.json.encode(data)) == data, spec.name

    def test_listing_twice_gives_equal_specs(self) -> None:
        """In the same order, so that a provider's prompt cache stays warm."""

        async def twice(source: Source) -> tuple[list[Any], list[Any]]:
            first = [tool.spec.to_dict() for tool in await source.tools()]
            return first, [tool.spec.to_dict() for tool in await source.tools()]

        first, second = self._with(twice)
        assert first == second

    def test_health_answers_with_a_reason_unless_it_is_fine(self) -> None:
        """An operator reads what is wrong, not that something is."""
        health = self._with(_health_of)
        assert isinstance(health, Health), f"{health!r} is not a Health"
        fine = health.status is HealthStatus.HEALTHY
        assert fine or health.reason, f"{health.status} without a reason"

    def test_health_does_not_raise_after_closing(self) -> None:
        """A check that comes late is answered too."""

        async def closed(source: Source) -> Health:
            await source.close()
            return await source.health()

        assert isinstance(self._with(closed), Health)

    def test_closing_twice_is_harmless(self) -> None:
        """So that clean-up code may run twice."""

        async def twice(source: Source) -> bool:
            await source.close()
            await source.close()
            return True

        assert self._with(twice)

    def test_a_listener_for_changes_is_taken(self) -> None:
        """Also by a source that never changes; without a change there is no notification."""
        notified: list[int] = []

        async def listen(source: Source) -> None:
            source.on_change(lambda: notified.append(1))
            await source.tools()

        self._with(listen)
        assert notified == [], "listing alone is not a change"

    def _with(self, ask: Callable[[Source], Awaitable[_Answer]]) -> _Answer:
        async def session() -> _Answer:
            async with asyncio.timeout(_DEADLINE):
                source = await self.open_source()
                try:
                    return await ask(source)
                finally:
                    await source.close()

        return asyncio.run(session())

    def _tools(self) -> Sequence[Tool]:
        return self._with(_tools_of)

    def _specs(self) -> list[ToolSpec]:
        return [tool.spec for tool in self._tools()]


async def _name_of(source: Source) -> str:
    return source.name


async def _tools_of(source: Source) -> Sequence[Tool]:
    return await source.tools()


async def _health_of(source: Source) -> Health:
    return await source.health()


def _schema_problem(schema: Any) -> str:
    """Why this is not a self-contained 2020-12 schema; empty when it is."""
    import jsonschema_rs

    plain = _plain(schema)
    if plain.get("$schema", _DRAFT) != _DRAFT:
        return f"$schema is {plain['$schema']!r}, not 2020-12"
    outward = [ref for ref in _refs(plain) if not ref.startswith("#")]
    if outward:
        return f"$ref leads out of the schema: {outward[0]!r}"
    try:
        jsonschema_rs.Draft202012Validator(plain, retriever=_refuse)
    except (jsonschema_rs.ValidationError, ValueError) as error:
        return str(error).partition("\n")[0]
    return ""


def _plain(value: Any) -> Any:
    import msgspec

    return msgspec.json.decode(msgspec.json.encode(value))


def _refs(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            yield from _refs(item)
    if isinstance(node, dict):
        for key, item in cast("dict[str, Any]", node).items():
            if key in ("$ref", "$dynamicRef") and isinstance(item, str):
                yield item
            else:
                yield from _refs(item)


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema")

"""`@tool` marks a function and leaves it what it was."""

import copy
import functools
import inspect
import json
import pickle
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field
from tests.tools.shapes import Price

from pegboard.core.tool import Effect
from pegboard.errors import ToolSignatureError
from pegboard.tools import FunctionTool, as_tool, tool
from pegboard.tools.decorator import LazySpec, mark_of


@tool
def letter_counter(word: str, letter: str) -> int:
    """Count occurrences of a letter in a word.

    Args:
        word: Where to look.
        letter: What to look for; one character.
    """
    return word.lower().count(letter.lower())


@tool(effect="read")
async def price_of(item: str) -> Price:
    """The price."""
    return Price(amount=len(item))


class Shop:
    """Tools of every kind of method."""

    def __init__(self, name: str) -> None:
        self.name = name

    @tool(effect="read")
    def order(self, item: str) -> str:
        """Order it."""
        return f"{self.name}: {item}"

    @tool
    @staticmethod
    def above(item: str) -> str:
        return item

    @staticmethod
    @tool
    def below(item: str) -> str:
        return item

    @tool
    @classmethod
    def class_above(cls, item: str) -> str:
        return cls.__name__ + item

    @classmethod
    @tool
    def class_below(cls, item: str) -> str:
        return cls.__name__ + item


class Greeter:
    """Greets."""

    @tool(name="greet", effect="read")
    def __call__(self, name: str) -> str:
        return f"Hello {name}"


def test_a_decorated_function_is_still_a_function() -> None:
    assert inspect.isfunction(letter_counter)
    assert letter_counter("Pepper", "p") == 3
    assert letter_counter.__name__ == "letter_counter"
    assert inspect.iscoroutinefunction(price_of)


def test_it_can_be_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(letter_counter)) is letter_counter


def test_it_carries_its_openai_format() -> None:
    assert letter_counter.__tool_spec__ == {  # type: ignore[attr-defined]  # what the decorator adds
        "type": "function",
        "function": {
            "name": "letter_counter",
            "description": "Count occurrences of a letter in a word.",
            "parameters": {
                "type": "object",
                "properties": {
                    "word": {"type": "string", "description": "Where to look."},
                    "letter": {
                        "type": "string",
                        "description": "What to look for; one character.",
                    },
                },
                "required": ["word", "letter"],
                "additionalProperties": False,
            },
        },
    }


def test_it_says_whether_it_is_async() -> None:
    async def numbers():
        yield 1

    marked = [letter_counter, price_of, tool(numbers)]

    assert [item.__tool_is_async__ for item in marked] == [False, True, True]  # type: ignore[attr-defined]  # what the decorator adds


def test_it_is_used_bare_and_with_arguments() -> None:
    @tool()
    def bare() -> None: ...

    assert as_tool(bare).spec.effect is Effect.WRITE
    assert as_tool(price_of).spec.effect is Effect.READ


async def test_the_decorated_and_the_plain_function_are_the_same_tool() -> None:
    assert as_tool(letter_counter) is as_tool(letter_counter)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        pytest.param(Shop("a").order, "a: x", id="bound method"),
        pytest.param(Shop.above, "x", id="static method, tool above"),
        pytest.param(Shop.below, "x", id="static method, tool below"),
        pytest.param(Shop.class_above, "Shopx", id="class method, tool above"),
        pytest.param(Shop.class_below, "Shopx", id="class method, tool below"),
        pytest.param(Shop("a").class_below, "Shopx", id="class method of an instance"),
    ],
)
async def test_methods_are_tools(function: Any, value: str, run: Any) -> None:
    assert function("x") == value
    assert await run(function, {"item": "x"}) == value


async def test_each_instance_is_a_tool_of_its_own(run: Any) -> None:
    one, two = Shop("one"), Shop("two")

    assert await run(one.order, {"item": "x"}) == "one: x"
    assert await run(two.order, {"item": "x"}) == "two: x"
    assert as_tool(two.order).spec.effect is Effect.READ


async def test_a_method_can_be_made_a_tool_from_outside(run: Any) -> None:
    class Plain:
        def hello(self, name: str) -> str:
            return f"hello {name}"

    plain = Plain()
    tool(effect="read")(plain.hello)

    assert await run(plain.hello, {"name": "a"}) == "hello a"
    assert as_tool(plain.hello).spec.effect is Effect.READ


def test_the_decorator_on_call_marks_the_instance() -> None:
    made = as_tool(Greeter())

    assert (made.spec.name, made.spec.effect) == ("greet", Effect.READ)


async def test_a_partial_keeps_what_was_said_of_it(run: Any) -> None:
    named = tool(name="count_p", effect="read")(functools.partial(letter_counter, letter="p"))

    made = as_tool(named)
    assert (made.spec.name, made.spec.effect) == ("count_p", Effect.READ)
    assert list(made.spec.input_schema["properties"]) == ["word"]
    assert await run(named, {"word": "pepper"}) == 3


async def test_a_partial_of_a_tool_is_what_the_tool_is(run: Any) -> None:
    partial = functools.partial(price_of, item="pear")

    made = as_tool(partial)
    assert (made.spec.name, made.spec.effect) == ("price_of", Effect.READ)
    assert await run(partial, {}) == Price(amount=4)


def test_what_wraps_a_tool_is_a_tool_with_its_options() -> None:
    @functools.wraps(price_of)
    async def logged(*args: Any, **kwargs: Any) -> Any:
        return await price_of(*args, **kwargs)

    made = as_tool(logged)
    assert isinstance(made, FunctionTool)
    assert (made.function, made.spec.effect) == (logged, Effect.READ)


def test_a_type_that_is_local_to_the_function_is_found() -> None:
    class Local:
        pass

    with pytest.raises(ToolSignatureError, match="cannot become a JSON Schema"):

        @tool
        def find(a: "Local") -> None: ...


def test_what_is_not_marked_has_no_mark() -> None:
    assert mark_of(len) is None
    assert mark_of(functools.partial(len)) is None


@pytest.mark.parametrize("thing", [5, None, "x", Shop], ids=repr)
def test_only_functions_can_be_decorated(thing: Any) -> None:
    with pytest.raises(ToolSignatureError, match="@tool needs a function"):
        tool()(thing)


def test_what_cannot_carry_attributes_says_so() -> None:
    class Slotted:
        __slots__ = ()

        def __call__(self, a: int) -> int:
            return a

    with pytest.raises(ToolSignatureError, match=r"@tool slotted\(\): it cannot carry attributes"):
        tool(Slotted())


@pytest.mark.parametrize("name", ["a b", "a.b", "x" * 65])
def test_a_bad_name_is_refused_at_decoration(name: str) -> None:
    with pytest.raises(ToolSignatureError, match="is not a tool name"):

        @tool(name=name)
        def find() -> None: ...


@pytest.mark.parametrize("alias", ["b", "theB"])
def test_two_parameters_under_one_name_are_refused(alias: str) -> None:
    def find(
        a: Annotated[int, Field(alias=alias)], b: int, c: Annotated[int, Field(alias="theB")]
    ) -> None: ...

    with pytest.raises(ToolSignatureError, match=f"are shown as '{alias}'"):
        tool(find)


def test_a_lambda_needs_a_name() -> None:
    with pytest.raises(ToolSignatureError, match="'<lambda>' is not a tool name"):
        tool(lambda: None)

    assert as_tool(tool(name="nothing")(lambda: None)).spec.name == "nothing"


SPEC: dict[str, Any] = {"type": "function", "function": {"name": "f"}}
LATER: dict[str, Callable[[LazySpec], Any]] = {
    "json.dumps": lambda spec: json.loads(json.dumps(spec)),
    "dict()": dict,
    "**": lambda spec: {**spec},
    "copy": copy.copy,
    "copy()": lambda spec: spec.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda spec: pickle.loads(pickle.dumps(spec)),
    "items()": lambda spec: dict(spec.items()),
    "keys() and []": lambda spec: {key: spec[key] for key in spec.keys()},  # noqa: SIM118 - keys() is tested
    "keys and values": lambda spec: dict(zip(spec, spec.values(), strict=True)),
    "get": lambda spec: {"type": spec.get("type"), "function": spec.get("function")},
    "|": lambda spec: spec | {},
    "| from the right": lambda spec: {} | spec,
    "reversed": lambda spec: {key: spec[key] for key in reversed([*reversed(spec)])},
    "eval of repr": lambda spec: __import__("ast").literal_eval(repr(spec)),
    "pop": lambda spec: {"function": spec.pop("function"), "type": spec.pop("type")},
    "popitem": lambda spec: dict([spec.popitem(), spec.popitem()]),
    "setdefault": lambda spec: {"type": "function", "function": spec.setdefault("function", 0)},
}
CHANGES: dict[str, Callable[[LazySpec], Any]] = {
    "[]=": lambda spec: spec.__setitem__("function", 1),
    "update": lambda spec: spec.update(function=1),
    "|=": lambda spec: spec.__ior__({"function": 1}),
    "del": lambda spec: spec.__delitem__("function"),
    "clear": lambda spec: spec.clear(),
}


@pytest.mark.parametrize("read", LATER.values(), ids=LATER)
def test_whoever_reads_it_finds_the_whole(read: Callable[[LazySpec], Any]) -> None:
    assert read(LazySpec(lambda: SPEC)) == SPEC


def test_it_is_equal_to_the_dict_that_it_is() -> None:
    assert LazySpec(lambda: SPEC) == SPEC
    assert SPEC == LazySpec(lambda: SPEC)  # noqa: SIM300 - the other side is tested
    assert not LazySpec(lambda: SPEC) != SPEC  # noqa: SIM202 - its own method is tested
    assert LazySpec(lambda: SPEC) != {"type": "function"}


def test_it_has_the_length_and_the_keys_of_the_whole() -> None:
    assert len(LazySpec(lambda: SPEC)) == 2
    assert "function" in LazySpec(lambda: SPEC)
    assert bool(LazySpec(lambda: SPEC))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_not_undone_by_the_first_reading(change: Callable[[LazySpec], Any]) -> None:
    spec, filled = LazySpec(lambda: SPEC), dict(SPEC)

    change(spec)
    change(filled)  # type: ignore[arg-type]  # what a dict would have become

    assert dict(spec) == filled


def test_it_is_made_on_the_first_reading_and_once() -> None:
    made: list[int] = []

    def make() -> dict[str, Any]:
        made.append(1)
        return SPEC

    spec = LazySpec(make)
    before = list(made)
    _ = (spec["type"], spec["function"], len(spec))

    assert (before, made) == ([], [1])


def test_two_threads_that_read_at_once_both_find_the_whole() -> None:
    inside, go_on = threading.Event(), threading.Event()
    found: list[Any] = []

    def make() -> dict[str, Any]:
        inside.set()
        go_on.wait()
        return SPEC

    spec = LazySpec(make)
    threads = [threading.Thread(target=lambda: found.append(dict(spec))) for _ in range(2)]
    for thread in threads:
        thread.start()
    inside.wait()
    go_on.set()
    for thread in threads:
        thread.join()

    assert found == [SPEC, SPEC]


def test_a_failure_to_make_it_is_raised_each_time() -> None:
    def make() -> dict[str, Any]:
        raise LookupError("no schema")

    spec = LazySpec(make)

    for _ in range(2):
        with pytest.raises(LookupError):
            spec.get("function")

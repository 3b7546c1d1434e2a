"""A spec that is built when it is first read is a dict in every other respect."""

import copy
import json
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

from pegboard.tools.lazy_spec import LazySpec

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

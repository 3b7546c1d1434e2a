"""What arrives as JSON reaches the function as its declared types, or not at all."""

import collections
import ipaddress
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import (
    AfterValidator,
    AnyUrl,
    AwareDatetime,
    BeforeValidator,
    Field,
    Json,
    PositiveInt,
    SecretStr,
    StringConstraints,
)
from tests.tools.reading import read, refused, tool_of
from tests.tools.shapes import (
    Aliased,
    Booking,
    Built,
    Cat,
    Checked,
    Dog,
    Flag,
    Item,
    Lists,
    Mixed,
    Number,
    Open,
    OpenTyped,
    Pair,
    Person,
    Pet,
    Point,
    Price,
    Span,
    Tree,
    Word,
)

UUID_TEXT = "12345678-1234-5678-1234-567812345678"


def _not_one(value: int) -> int:
    if value == 1:
        raise ValueError("one is taken")
    return value


ACCEPTED = [
    (int, "5", 5),
    (int, '"5"', 5),
    (int, '" -7 "', -7),
    (int, "5.0", 5),
    (int, '"5.0"', 5),
    (int, "1e3", 1000),
    (int, "1" + "0" * 40, 10**40),
    (float, "5", 5.0),
    (float, '"1.5"', 1.5),
    (float, '"-1e3"', -1000.0),
    (bool, "true", True),
    (bool, '"true"', True),
    (bool, '"False"', False),
    (str, '"5"', "5"),
    (str, '"[1]"', "[1]"),
    (None, "null", None),
    (Any, '"[1]"', "[1]"),
    (Any, "5.0", 5.0),
    (object, '{"a": 1}', {"a": 1}),
    (Optional[int], "null", None),  # noqa: UP045 - the older spelling is tested too
    (Optional[int], '"5"', 5),  # noqa: UP045 - the older spelling is tested too
    (int | None, "7", 7),
    (int | str, '"5"', "5"),
    (int | str, "5", 5),
    (int | bool, '"true"', True),
    (int | float, '"5"', 5),
    (int | float, '"5.5"', 5.5),
    (str | list[str], '"[1]"', "[1]"),
    (str | list[str], '["a"]', ["a"]),
    (list[int] | dict[str, int], '"[1]"', [1]),
    (list[int] | dict[str, int], '"{\\"a\\": 1}"', {"a": 1}),
    (Literal["a", "b"], '"a"', "a"),
    (Literal[1, 2], '"1"', 1),
    (Literal[1, 2], "1.0", 1),
    (Literal[True], '"true"', True),
    (Literal["a", None], "null", None),  # noqa: PYI061 - null as one of several words
    (Literal["a", 1], "1", 1),
    (Mixed, "1", Mixed.ONE),
    (Mixed, '"two"', Mixed.TWO),
    (Number, '"2"', Number.TWO),
    (Number, "1.0", Number.ONE),
    (Word, '"no"', Word.NO),
    (Flag, "true", Flag.ON),
    (list[str], '["a"]', ["a"]),
    (list[str], '"[\\"a\\"]"', ["a"]),
    (list[int], '["1", 2.0]', [1, 2]),
    (list, '[1, "a"]', [1, "a"]),
    (dict[str, int], '{"a": "1"}', {"a": 1}),
    (dict[int, str], '{"1": "a"}', {1: "a"}),
    (dict[date, int], '{"2024-05-06": 1}', {date(2024, 5, 6): 1}),
    (dict, '{"a": null}', {"a": None}),
    (tuple[int, str], '["1", "a"]', (1, "a")),
    (tuple[int, ...], "[1, 2]", (1, 2)),
    (set[int], "[1, 1, 2]", {1, 2}),
    (frozenset[str], '["a"]', frozenset({"a"})),
    (collections.deque[int], "[1]", collections.deque([1])),
    (Sequence[int], '["1"]', [1]),
    (Iterable[int], '["1"]', [1]),
    (Mapping[str, int], '{"a": 1}', {"a": 1}),
    (date, '"2024-05-06"', date(2024, 5, 6)),
    (datetime, '"2024-05-06T07:08:09"', datetime(2024, 5, 6, 7, 8, 9)),  # noqa: DTZ001 - without a zone
    (datetime, '"2024-05-06T07:08:09Z"', datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
    (AwareDatetime, '"2024-05-06T07:08:09Z"', datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
    (time, '"12:30"', time(12, 30)),
    (timedelta, '"PT5M"', timedelta(minutes=5)),
    (datetime | int, "5", 5),
    (uuid.UUID, f'"{UUID_TEXT}"', uuid.UUID(UUID_TEXT)),
    (Path, '"/tmp/a"', Path("/tmp/a")),
    (PurePosixPath, '"/tmp/a"', PurePosixPath("/tmp/a")),
    (Decimal, "1.5", Decimal("1.5")),
    (Decimal, '"1.50"', Decimal("1.50")),
    (bytes, '"a"', b"a"),
    (ipaddress.IPv4Address, '"10.0.0.1"', ipaddress.IPv4Address("10.0.0.1")),
    (AnyUrl, '"http://example.org/"', AnyUrl("http://example.org/")),
    (Json[list[int]], '"[1]"', [1]),
    (SecretStr, '"s"', SecretStr("s")),
    (PositiveInt, '"3"', 3),
    (Annotated[int, Field(ge=1, le=5)], "5", 5),
    (Annotated[str, Field(pattern=r"^\d+$")], '"12"', "12"),
    (Annotated[str, StringConstraints(strip_whitespace=True)], '" a "', "a"),
    (Annotated[int, AfterValidator(_not_one)], '"2"', 2),
    (Annotated[int, BeforeValidator(lambda value: value)], '"2"', 2),
    (Annotated[date, BeforeValidator(lambda value: value)], '"2024-05-06"', date(2024, 5, 6)),
    (Price, '{"amount": 1}', Price(amount=1)),
    (Price, '"{\\"amount\\": \\"2\\"}"', Price(amount=2)),
    (Price | None, "null", None),
    (int | Price, '{"amount": "3"}', Price(amount=3)),
    (Item, '{"sku": "a", "price": {"amount": 1}}', Item(sku="a", price=Price(amount=1))),
    (Tree, '{"value": 1, "children": [{"value": "2"}]}', Tree(value=1, children=[Tree(value=2)])),
    (Pet, '{"kind": "cat", "lives": "9"}', Cat(kind="cat", lives=9)),
    (Cat | Dog, '{"kind": "dog", "cat": "Tom"}', Dog(kind="dog", cat="Tom")),
    (Aliased, '{"theNumber": "4"}', Aliased(theNumber=4)),
    (Span, '{"first": 1, "last": 2}', Span(first=1, last=2)),
    (Built, '{"number": "1"}', Built(number=1)),
    (Point, '{"x": "1"}', Point(1.0)),
    (Person, '{"name": "a", "home": {"amount": 1}}', {"name": "a", "home": Price(amount=1)}),
    (Pair, "[1]", Pair(1)),
    (Pair, '["1", "b"]', Pair(1, "b")),
]

REFUSED = [
    (int, "1.5", "x: expected an integer, found 1.5 (number)"),
    (int, '"1.5"', 'x: expected an integer, found "1.5" (string)'),
    (int, '"abc"', 'x: expected an integer, found "abc" (string)'),
    (int, '"\u0665"', 'x: expected an integer, found "\u0665" (string)'),
    (int, '"1_000"', 'x: expected an integer, found "1_000" (string)'),
    (int, "true", "x: expected an integer, found true (boolean)"),
    (int, "null", "x: expected an integer, found null"),
    (int, "[5]", "x: expected an integer, found an array of 1"),
    (float, "false", "x: expected a number, found false (boolean)"),
    (float, "NaN", "x: expected a finite number, found nan (number)"),
    (float, "-Infinity", "x: expected a finite number, found -inf (number)"),
    (float, "1e400", "x: expected a finite number, found inf (number)"),
    (float, '"NaN"', 'x: expected a number, found "NaN" (string)'),
    (float, '"inf"', 'x: expected a number, found "inf" (string)'),
    (float, '"1e400"', 'x: expected a number, found "1e400" (string)'),
    (bool, "1", "x: expected a boolean, found 1 (number)"),
    (bool, "0.0", "x: expected a boolean, found 0.0 (number)"),
    (bool, '"yes"', 'x: expected a boolean, found "yes" (string)'),
    (bool, "null", "x: expected a boolean, found null"),
    (str, "5", "x: expected a string, found 5 (number)"),
    (str, "null", "x: expected a string, found null"),
    (str, "true", "x: expected a string, found true (boolean)"),
    (str, '["a"]', "x: expected a string, found an array of 1"),
    (None, "5", "x: expected null, found 5 (number)"),
    (Any, "NaN", "x: expected a finite number, found nan (number)"),
    (Any, '{"a": [1e999]}', "x.a[0]: expected a finite number, found inf (number)"),
    (list, "[Infinity]", "x[0]: expected a finite number, found inf (number)"),
    (dict, '{"a": NaN}', "x.a: expected a finite number, found nan (number)"),
    (int | str, "1.5", "x: expected an integer or a string, found 1.5 (number)"),
    (str | list[str], "5", "x: expected a string or an array, found 5 (number)"),
    (
        Annotated[str, Field(max_length=2)] | list[str],
        '"[\\"a\\"]"',
        'x: string should have at most 2 characters, found "["a"]" (string)',
    ),
    (
        bool | uuid.UUID,
        '"yes"',
        'x: expected a valid UUID, invalid character: found `y` at 0, found "yes" (string)',
    ),
    (Literal["a", "b"], '"c"', "x: expected 'a' or 'b', found \"c\" (string)"),
    (Literal[1, 2], "true", "x: expected 1 or 2, found true (boolean)"),
    (Literal[1, 2], '"3"', "x: expected 1 or 2, found 3 (number)"),
    (Literal[True], "1", "x: expected true, found 1 (number)"),
    (Literal["a", 1], '"1"', "x: expected 'a' or 1, found \"1\" (string)"),
    (Mixed, "true", "x: expected 1 or 'two', found true (boolean)"),
    (Number, "true", "x: expected 1 or 2, found true (boolean)"),
    (Word, '"maybe"', "x: expected 'yes' or 'no', found \"maybe\" (string)"),
    (Flag, "1", "x: expected true, found 1 (number)"),
    (list[str], '"a"', 'x: expected an array, found "a" (string)'),
    (list[str], '"\\"[]\\""', 'x: expected an array, found ""[]"" (string)'),
    (list[str], '"[1]"', "x[0]: expected a string, found 1 (number)"),
    (list[int], '"[1e400]"', 'x: expected an array, found "[1e400]" (string)'),
    (list[int], "{}", "x: expected an array, found an object"),
    (dict[str, int], "[]", "x: expected an object, found an array of 0"),
    (dict[str, int], '{"a": "b"}', 'x.a: expected an integer, found "b" (string)'),
    (dict[date, int], '{"0": 1}', 'x.0: expected a valid date, found "0" (string)'),
    (tuple[int, str], "[1]", "x[1]: missing, required"),
    (set[int], '["a"]', 'x[0]: expected an integer, found "a" (string)'),
    (Iterable[int], '["a"]', 'x[0]: expected an integer, found "a" (string)'),
    (date, "19000", "x: expected a valid date, found 19000 (number)"),
    (date, '"0"', 'x: expected a valid date, found "0" (string)'),
    (date, '"1700000000"', 'x: expected a valid date, found "1700000000" (string)'),
    (datetime, "1700000000", "x: expected a valid datetime, found 1700000000 (number)"),
    (datetime, "true", "x: expected a valid datetime, found true (boolean)"),
    (datetime, '"1700000000"', 'x: expected a valid datetime, found "1700000000" (string)'),
    (datetime, '"\\u0031700000000"', 'x: expected a valid datetime, found "1700000000" (string)'),
    (datetime, '"1.5"', 'x: expected a valid datetime, found "1.5" (string)'),
    (datetime | int, '"5"', 'x: expected a valid datetime, found "5" (string)'),
    (time, "3600", "x: expected a valid time, found 3600 (number)"),
    (timedelta, "5", "x: expected a valid duration, found 5 (number)"),
    (uuid.UUID, "5", "x: expected a string, found 5 (number)"),
    (Path, "5", "x: expected a string, found 5 (number)"),
    (bytes, "5", "x: expected a string, found 5 (number)"),
    (Decimal, "true", "x: expected a number, found true (boolean)"),
    (Decimal, '"abc"', 'x: expected a valid decimal, found "abc" (string)'),
    (Decimal, '"NaN"', 'x: expected a finite number, found "NaN" (string)'),
    (Decimal, "1e400", "x: expected a finite number, found inf (number)"),
    (ipaddress.IPv4Address, '"x"', "x: expected 4 octets in 'x', found \"x\" (string)"),
    (AnyUrl, '"x"', 'x: expected a valid URL, relative URL without a base, found "x" (string)'),
    (
        Annotated[int, Field(ge=1)],
        "0",
        "x: expected a number greater than or equal to 1, found 0 (number)",
    ),
    (Annotated[int, Field(lt=5)], '"5"', "x: expected a number less than 5, found 5 (number)"),
    (
        Annotated[str, Field(pattern=r"^\d+$")],
        '"a"',
        "x: string should match pattern '^\\d+$', found \"a\" (string)",
    ),
    (Annotated[str, Field(pattern=r"^\d+$")], '"\u0665"', 'x: "\u0665" does not match "^\\d+$"'),
    (Annotated[str, Field(pattern=r"^\d+$")], '"\\u0665"', 'x: "\u0665" does not match "^\\d+$"'),
    (Annotated[int, AfterValidator(_not_one)], '"1"', "x: one is taken, found 1 (number)"),
    (
        Annotated[int, BeforeValidator(lambda value: value)],
        "true",
        "x: expected an integer, found true (boolean)",
    ),
    (
        Annotated[date, BeforeValidator(lambda value: value)],
        '"5"',
        'x: expected a valid date, found "5" (string)',
    ),
    (
        Annotated[time, BeforeValidator(lambda value: value)],
        '"3600"',
        'x: expected a valid time, found "3600" (string)',
    ),
    (
        Annotated[timedelta, BeforeValidator(lambda value: value)],
        '"5"',
        'x: expected a valid duration, found "5" (string)',
    ),
    (Price, "5", "x: expected an object, found 5 (number)"),
    (Price, "null", "x: expected an object, found null"),
    (Price, "{}", "x.amount: missing, required"),
    (Price, '{"amount": NaN}', "x.amount: expected a finite number, found nan (number)"),
    (
        Price,
        '{"amount": 1, "curency": "a"}',
        "x.curency: unknown argument; did you mean 'currency'?",
    ),
    (int | Price, '{"amount": "b"}', 'x.amount: expected a number, found "b" (string)'),
    (int | Price, '"b"', 'x: expected an integer or an object, found "b" (string)'),
    (
        Tree,
        '{"value": 1, "children": [{"value": "a"}]}',
        'x.children[0].value: expected an integer, found "a" (string)',
    ),
    (Pet, '{"kind": "dog", "cat": 5}', "x.cat: expected a string, found 5 (number)"),
    (Pet, '{"kind": "dog", "cat": {"cat": 5}}', "x.cat: expected a string, found an object"),
    (
        Pet,
        '{"kind": "cow"}',
        (
            "x: input tag 'cow' found using 'kind' does not match any of the expected tags: "
            "'cat', 'dog', found an object"
        ),
    ),
    (Pet, "{}", "x: unable to extract tag using discriminator 'kind', found an object"),
    (
        Cat | Dog,
        '{"kind": "cat", "lives": "many"}',
        'x.lives: expected an integer, found "many" (string)',
    ),
    (
        Open,
        '{"inner": {"amount": 1, "more": 2}}',
        "x.inner.more: unknown argument; known are amount, currency",
    ),
    (
        Open,
        '{"inner": {"amount": 1}, "more": NaN}',
        "x.more: expected a finite number, found nan (number)",
    ),
    (OpenTyped, '{"more": "a"}', 'x.more: expected an integer, found "a" (string)'),
    (Span, '{"first": 2, "last": 1}', "x: first must not be after last, found an object"),
    (Checked, '{"even": 3}', "x.even: must be even, found 3 (number)"),
    (Booking, '{"day": 5}', "x.day: expected a string, found 5 (number)"),
    (Booking, '{"day": "0"}', 'x.day: expected a valid date, found "0" (string)'),
    (
        Booking,
        '{"day": "2024-05-06", "z": 1}',
        "x.z: unknown argument; known are at, day, names, price, where, word",
    ),
    (
        Booking,
        '{"day": "2024-05-06", "price": {"amount": 1, "z": 1}}',
        "x.price.z: unknown argument; known are amount, currency",
    ),
    (Built, '{"number": 1, "z": 1}', "x.z: unknown argument; known are number"),
    (Built, '{"number": true}', "x.number: expected an integer, found true (boolean)"),
    (Point, '{"x": 1, "z": 1}', "x.z: unknown argument; known are x, y"),
    (Point, '{"x": NaN}', "x.x: expected a finite number, found nan (number)"),
    (Person, "{}", "x.name: missing, required"),
    (
        Person,
        '{"name": "a", "home": {"amount": 1, "z": 1}}',
        "x.home.z: unknown argument; known are amount, currency",
    ),
    (Pair, '{"left": 1}', "x: expected an array, found an object"),
    (Pair, '["a"]', 'x[0]: expected an integer, found "a" (string)'),
]


def _ids(cases: list[tuple[Any, str, Any]]) -> list[str]:
    return [f"{getattr(hint, '__name__', hint)} from {text}" for hint, text, _ in cases]


@pytest.mark.parametrize(("hint", "text", "value"), ACCEPTED, ids=_ids(ACCEPTED))
def test_a_value_arrives_as_its_declared_type(hint: Any, text: str, value: Any) -> None:
    arrived = read(hint, text)

    assert (arrived, type(arrived)) == (value, type(value))


@pytest.mark.parametrize(("hint", "text", "line"), REFUSED, ids=_ids(REFUSED))
def test_what_does_not_fit_is_refused_with_one_precise_line(
    hint: Any, text: str, line: str
) -> None:
    assert refused(hint, text) == [line]


def test_a_model_that_says_it_is_open_stays_open() -> None:
    value = read(Open, '{"inner": {"amount": 1}, "more": 2}')

    assert value.model_extra == {"more": 2}


def test_extras_of_a_typed_kind_are_coerced() -> None:
    assert read(OpenTyped, '{"more": "5"}').model_extra == {"more": 5}


def test_an_alias_is_the_only_name_that_is_known() -> None:
    assert refused(Aliased, '{"number": 4}') == [
        "x.theNumber: missing, required",
        "x.number: unknown argument; did you mean 'theNumber'?",
    ]


def test_a_model_with_a_validator_before_its_types_gets_them_all() -> None:
    text = '{"day": "2024-05-06", "at": "12:30", "names": ["a", "a"], "word": "no", "where": "/a"}'

    assert read(Booking, text) == Booking(
        day=date(2024, 5, 6), at=time(12, 30), names={"a"}, word=Word.NO, where=Path("/a")
    )


def test_strings_within_strings_are_parsed_once_at_each_place() -> None:
    assert read(list[list[str]], '"[\\"[\\\\\\"a\\\\\\"]\\"]"') == [["a"]]


def test_texts_within_texts_are_opened_eight_times() -> None:
    def nested(levels: int) -> str:
        text = "[]"
        for _ in range(levels):
            text = json.dumps([text])
        return json.dumps(text)

    assert read(Lists, nested(7)) == Lists(
        [Lists([Lists([Lists([Lists([Lists([Lists([Lists([])])])])])])])]
    )
    assert refused(Lists, nested(9)) == ["texts within texts, too many times"]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"x": {"amount": 1}}, id="mapping"),
        pytest.param('{"x": {"amount": 1}}', id="text"),
        pytest.param(b'{"x": {"amount": 1}}', id="bytes"),
        pytest.param('"{\\"x\\": {\\"amount\\": 1}}"', id="encoded twice"),
        pytest.param({"x": '{"amount": "1"}'}, id="object as text"),
        pytest.param({"x": Price(amount=1)}, id="a model in a mapping"),
    ],
)
def test_arguments_come_as_mapping_text_or_bytes(raw: Any) -> None:
    assert tool_of(Price).arguments(raw) == {"x": Price(amount=1)}


@pytest.mark.parametrize("raw", [None, "", b"", "  ", "{}", {}, '"{}"'], ids=repr)
def test_a_tool_without_parameters_takes_nothing_in_any_form(raw: Any) -> None:
    def ping() -> None: ...

    assert _arguments_of(ping)(raw) == {}


def test_each_call_gets_values_of_its_own() -> None:
    read_arguments = tool_of(list[int]).arguments

    read_arguments('{"x": [1]}')["x"].append(2)

    assert read_arguments('{"x": [1]}') == {"x": [1]}


def _arguments_of(function: Any) -> Any:
    from pegboard.tools import as_tool

    return as_tool(function).arguments  # type: ignore[attr-defined]  # a FunctionTool has them

"""What a function's signature says of the tool that it becomes."""

# ruff: noqa: RUF013, B008 - odd signatures are what is tested

from __future__ import annotations

import functools
import math
import types
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest
from pydantic import Field

from pegboard.core.context import ToolContext
from pegboard.errors import ToolSignatureError
from pegboard.tools import tool
from pegboard.tools.signatures.signature import (
    MISSING,
    FunctionParameter,
    Signature,
    is_self,
    name_of,
    read_signature,
    resolve_hints,
    unwrap,
)

if TYPE_CHECKING:
    from pathlib import Path as OnlyForCheckers


Indirect: Any = "list[Elsewhere]"


class Shop:
    def order(self, item: str, count: int = 1) -> str:
        return f"{count} {item}"

    @classmethod
    def open(cls, name: str) -> str:
        return name

    @staticmethod
    def price(item: str) -> float:
        return float(len(item))

    def __call__(self, item: str) -> str:
        return item


def plain(a: int, b: Optional[str] = None, *, c: float = 1.5) -> bool:  # noqa: UP045 - the older spelling
    return bool(a and b and c)


async def waits(a: int) -> int:
    return a


def test_parameters_have_their_types_and_defaults() -> None:
    signature = read_signature(plain)

    assert signature == Signature(
        parameters=(
            FunctionParameter(name="a", hint=int),
            FunctionParameter(name="b", hint=Optional[str], default=None, required=False),  # noqa: UP045 - as written
            FunctionParameter(name="c", hint=float, default=1.5, required=False),
        ),
        returns=bool,
    )


@pytest.mark.parametrize(
    ("function", "names"),
    [
        pytest.param(plain, ["a", "b", "c"], id="function"),
        pytest.param(waits, ["a"], id="async function"),
        pytest.param(Shop().order, ["item", "count"], id="bound method"),
        pytest.param(Shop.open, ["name"], id="class method"),
        pytest.param(Shop.price, ["item"], id="static method"),
        pytest.param(Shop(), ["item"], id="callable instance"),
        pytest.param(functools.partial(plain, b="x"), ["a", "c"], id="partial with a keyword"),
        pytest.param(functools.partial(plain, 1), ["b", "c"], id="partial by position"),
        pytest.param(
            functools.partial(functools.partial(plain, 1), c=2.0), ["b"], id="partial of a partial"
        ),
        pytest.param(
            functools.partial(
                Shop(),
            ),
            ["item"],
            id="partial of an instance",
        ),
        pytest.param(functools.partial(Shop().order, count=2), ["item"], id="partial of a method"),
        pytest.param(functools.lru_cache(plain), ["a", "b", "c"], id="cached function"),
    ],
)
def test_whatever_can_be_called_is_read(function: Any, names: list[str]) -> None:
    assert [item.name for item in read_signature(function).parameters] == names


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (plain, "plain"),
        (Shop().order, "order"),
        (Shop(), "shop"),
        (functools.partial(plain, 1), "plain"),
        (functools.partial(Shop()), "shop"),
    ],
    ids=["function", "method", "instance", "partial", "partial of an instance"],
)
def test_whatever_can_be_called_has_a_name(function: Any, name: str) -> None:
    assert name_of(function) == name


def test_a_default_of_none_makes_a_type_optional() -> None:
    def find(
        a: int = None,  # type: ignore[assignment]  # what is tested
        b: Annotated[int, Field(ge=1, description="How many")] = None,  # type: ignore[assignment]  # what is tested
        c: Annotated[int, "marked"] = None,  # type: ignore[assignment]  # what is tested
        d: Any = None,
        e: None = None,
        f: int | None = None,
        g: Annotated[int | None, "marked"] = None,
    ) -> None: ...

    hints = {item.name: item.hint for item in read_signature(find).parameters}

    assert hints["a"] == Optional[int]  # noqa: UP045 - one of two spellings
    assert hints["b"].__origin__ == Optional[int]  # noqa: UP045 - one of two spellings
    assert hints["b"].__metadata__[0].description == "How many"
    assert hints["c"] == Optional[Annotated[int, "marked"]]  # noqa: UP045 - one of two spellings
    assert (hints["d"], hints["e"]) == (Any, type(None))
    assert hints["f"] == int | None
    assert hints["g"] == Annotated[int | None, "marked"]


def test_without_a_hint_the_default_says_the_type() -> None:
    def find(a=5, b=None, c=Field(default=3)): ...

    hints = [item.hint for item in read_signature(find).parameters]

    assert hints[:2] == [int, Any]
    assert hints[2].__origin__ is Any


def test_a_field_as_default_is_part_of_the_type() -> None:
    def find(a: int = Field(ge=1), b: int = Field(5), c: int = Field(None)) -> None: ...  # type: ignore[assignment]  # a default that makes it optional

    parameters = read_signature(find).parameters

    assert [(item.default, item.required) for item in parameters] == [
        (MISSING, True),
        (MISSING, False),
        (MISSING, False),
    ]
    assert parameters[2].hint.__origin__ == Optional[int]  # noqa: UP045 - one of two spellings


def test_the_context_is_no_parameter_wherever_it_stands() -> None:
    def first(ctx: ToolContext, a: int) -> None: ...
    def middle(a: int, here: ToolContext[str], b: int) -> None: ...
    def last(a: int, *, ctx: ToolContext | None = None) -> None: ...
    def marked(a: int, ctx: Annotated[ToolContext, "x"]) -> None: ...
    def by_position(ctx: ToolContext, a: int, /) -> None: ...

    read = {f.__name__: read_signature(f) for f in (first, middle, last, marked, by_position)}

    assert {name: signature.context for name, signature in read.items()} == {
        "first": "ctx",
        "middle": "here",
        "last": "ctx",
        "marked": "ctx",
        "by_position": "ctx",
    }
    assert all("ctx" not in {p.name for p in signature.parameters} for signature in read.values())
    assert read["by_position"].positional == ("ctx", "a")


def test_positional_only_parameters_are_told() -> None:
    def divide(a: int, b: int = 1, /, c: int = 2) -> None: ...

    assert read_signature(divide).positional == ("a", "b")


def test_a_function_that_wraps_has_the_types_of_what_it_wraps() -> None:
    elsewhere = types.ModuleType("elsewhere")
    source = "from __future__ import annotations\nfrom decimal import Decimal as Money\n"
    exec(source + "def pay(amount: Money) -> Money: ...", elsewhere.__dict__)

    @functools.wraps(elsewhere.pay)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return elsewhere.pay(*args, **kwargs)

    assert read_signature(wrapper) == Signature(
        parameters=(FunctionParameter(name="amount", hint=Decimal),), returns=Decimal
    )


def test_local_names_are_known_where_the_decorator_stands() -> None:
    class Local: ...

    def find(a: Local) -> list[Local]: ...

    assert resolve_hints(find, localns=locals()) == {"a": Local, "return": list[Local]}


def test_names_of_the_module_are_known_at_module_level() -> None:
    source = (
        "from __future__ import annotations\nfrom decimal import Decimal as Money\n"
        "from pegboard.tools import tool\n"
        "@tool\ndef pay(amount: Money) -> Money: ..."
    )
    module = types.ModuleType("payments")
    exec(source, module.__dict__)

    assert resolve_hints(module.pay) == {"amount": Decimal, "return": Decimal}


def test_unwrapping_ends_at_the_function() -> None:
    assert unwrap(functools.partial(Shop().order, "x")) is Shop.order
    assert unwrap(Shop()) is Shop.__call__
    assert unwrap(plain) is plain


def test_the_first_parameter_of_an_unbound_method_is_known() -> None:
    import inspect

    def self_named(self: int) -> None: ...

    first = {
        f: next(iter(inspect.signature(f).parameters.values())) for f in (Shop.order, self_named)
    }

    assert [is_self(function, item) for function, item in first.items()] == [True, False]


def _variadic(*args: int) -> None: ...
def _keywords(**kwargs: int) -> None: ...
def _untyped(a, b: int = 1): ...
def _nowhere(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - what is tested
def _returns_nowhere(a: int) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821 - what is tested
def _inside_list(a: list[Nowhere]) -> None: ...  # type: ignore[name-defined]  # noqa: F821 - what is tested
def _for_checkers(a: OnlyForCheckers) -> None: ...
def _indirect(a: Indirect) -> None: ...  # type: ignore[valid-type]  # what is tested
def _no_attribute(a: math.Nothing) -> None: ...  # type: ignore[name-defined]  # what is tested
def _broken(a: "int |") -> None: ...  # type: ignore[syntax]  # noqa: F722 - what is tested
def _value(a: 5) -> None: ...  # type: ignore[valid-type]  # what is tested
def _two(a: ToolContext, b: ToolContext) -> None: ...


_UNREADABLE = [
    (_variadic, "parameter 'args' is variadic; a model needs named parameters"),
    (_keywords, "parameter 'kwargs' is variadic"),
    (_untyped, "parameter 'a' needs a type hint, as in 'a: str'"),
    (_nowhere, "parameter 'a' names 'Nowhere', which cannot be resolved"),
    (_returns_nowhere, "the return type names 'Nowhere', which cannot be resolved"),
    (_inside_list, "parameter 'a' names 'Nowhere', which cannot be resolved"),
    (_indirect, "a type hint names 'Elsewhere', which cannot be resolved"),
    (_for_checkers, "outside 'if TYPE_CHECKING:'"),
    (_no_attribute, "a type hint cannot be read: module 'math' has no attribute 'Nothing'"),
    (_broken, "a type hint cannot be read: Forward reference must be an expression"),
    (_value, "parameter 'a' has a type that cannot become a JSON Schema (5)"),
    (_two, "both 'a' and 'b' are a ToolContext"),
]


@pytest.mark.parametrize(
    ("function", "reason"), _UNREADABLE, ids=lambda item: getattr(item, "__name__", "")
)
def test_what_cannot_be_read_says_where_and_why_at_decoration(function: Any, reason: str) -> None:
    with pytest.raises(ToolSignatureError) as caught:
        tool(function)

    assert str(caught.value).startswith(f"@tool {function.__name__}(): ")
    assert reason in str(caught.value)


def test_a_function_without_a_signature_says_so() -> None:
    with pytest.raises(ToolSignatureError, match=r"@tool iter\(\): it has no signature to read"):
        read_signature(iter)


def test_a_builtin_without_hints_asks_for_them() -> None:
    with pytest.raises(ToolSignatureError, match="parameter 'x' needs a type hint"):
        read_signature(math.sqrt)

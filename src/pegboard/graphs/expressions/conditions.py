"""Conditions in CEL, held to a yes or a no.

The engine fails open where it is used naively: an error is a value, and a text counts as true. Here
an error raises, and so does whatever is not a boolean. An expression sees only the data that it
names, so that neither the size of other outputs nor what CEL cannot say in them matters to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from pegboard.errors import InvalidRequest
from pegboard.graphs.expressions.references import ABSENT, ROOTS, Key, Reference

if TYPE_CHECKING:
    from cel_expr_python.cel import Env, Expression

MAX_CHARACTERS = 4_000
_MAX_DEPTH = 100
_MAX_INTEGER = 2**63

_STRING = r"""[rRbB]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_BELOW = r"""\s*\.\s*(?:[A-Za-z_]\w*)(?!\w|\s*\()|\s*\[\s*(?:\d+|"[^"\\\n]*"|'[^'\\\n]*')\s*\]"""
_TOKEN = re.compile(
    rf"//[^\n]*|{_STRING}|(?P<has>\bhas\s*\(\s*)?(?<![\w.])(?P<root>{'|'.join(ROOTS)})\b(?!\s*\()"
    rf"(?P<below>(?:{_BELOW})*)",
    re.DOTALL,
)
_KEY = re.compile(r"\.\s*(\w+)|\[\s*(?:(\d+)|\"([^\"]*)\"|'([^']*)')\s*\]")


class Mention(Struct, frozen=True, kw_only=True):
    """Data that an expression names.

    Attributes:
        reference: Where it is.
        asked: Whether it is only asked for, by `has(...)`.
    """

    reference: Reference
    asked: bool = False


class Condition(Struct, frozen=True, kw_only=True):
    """A compiled expression.

    Attributes:
        kind: What type it gives, as CEL calls it; `dyn` where only a run can tell.
        mentions: The data that it names.
    """

    text: str
    kind: str
    mentions: tuple[Mention, ...]
    expression: "Expression"

    @property
    def can_be_boolean(self) -> bool:
        """Whether it is a condition at all."""
        return self.kind in {"bool", "dyn"}

    def holds(self, data: Mapping[str, Any]) -> bool:
        """Whether it is true of this data.

        Raises:
            InvalidRequest: It cannot be told, or it is neither true nor false.
        """
        try:
            value = self.expression.eval(data=_select(self.mentions, data))
        except RuntimeError as error:
            raise InvalidRequest(
                f"The condition '{self.text}' failed: {_short_message(error)}"
            ) from error
        kind, found = _name(value.type()), value.value()
        if kind == "error":
            raise InvalidRequest(f"The condition '{self.text}' failed: {_explain(str(found))}")
        if found is not True and found is not False:
            raise InvalidRequest(
                f"The condition '{self.text}' is neither true nor false: it gives a {kind}."
            )
        return found


@lru_cache(maxsize=4096)
def compile_condition(text: str) -> Condition:
    """Compile an expression, once.

    Raises:
        InvalidRequest: It does not compile; says where.
    """
    if len(text) > MAX_CHARACTERS:
        raise InvalidRequest(f"A condition has at most {MAX_CHARACTERS} characters.")
    try:
        expression = _env().compile(text)
        kind = _name(expression.return_type())
    except (RuntimeError, TypeError, UnicodeError) as error:
        raise InvalidRequest(f"'{text}' is no condition: {_short_message(error)}") from error
    return Condition(text=text, kind=kind, mentions=tuple(_mentions(text)), expression=expression)


def holds(text: str, data: Mapping[str, Any]) -> bool:
    """Whether a condition is true of this data; an empty one is.

    Raises:
        InvalidRequest: It does not compile, cannot be told, or is neither true nor false.
    """
    return not text or compile_condition(text).holds(data)


@cache
def _env() -> "Env":
    from cel_expr_python import cel

    of = cel.Type
    names = {name: of.Map(of.STRING, of.DYN) for name in ("params", "steps", "env")}
    return cel.NewEnv(variables=names | {"item": of.DYN, "index": of.INT, "output": of.DYN})


def _mentions(text: str) -> Iterator[Mention]:
    for match in _TOKEN.finditer(text):
        root = match["root"]
        if root is not None:
            keys = tuple(_keys(match["below"]))
            yield Mention(reference=Reference(root, keys), asked=match["has"] is not None)


def _keys(below: str) -> Iterator[Key]:
    for name, index, double, single in _KEY.findall(below):
        yield int(index) if index else name or double or single


def _select(mentions: Sequence[Mention], data: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the data that an expression names, in values that CEL knows."""
    needed: dict[str, Any] = {}
    for mention in mentions:
        reference = mention.reference
        if reference.root in data:
            _copy(needed, data, (reference.root, *reference.keys))
    return needed


def _copy(into: dict[str, Any], data: Mapping[str, Any], keys: tuple[Key, ...]) -> None:
    """Copy what is at the end of a path, or as far as the path leads through objects."""
    for place, key in enumerate(keys):
        value = data.get(cast("str", key), ABSENT)
        if value is ABSENT:
            return
        name = cast("str", key)
        rest = keys[place + 1 :]
        if not rest or not isinstance(rest[0], str) or not isinstance(value, Mapping):
            into[name] = _plain(value, _MAX_DEPTH)
            return
        inner = into.setdefault(name, {})
        into, data = inner, cast("Mapping[str, Any]", value)


def _plain(value: Any, levels: int) -> Any:
    """JSON as CEL reads it: no tuples, and no integer beyond 64 bits."""
    if levels == 0:
        raise InvalidRequest(f"A condition reads data of at most {_MAX_DEPTH} levels.")
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int):
        fits = -_MAX_INTEGER <= value < _MAX_INTEGER
        return value if fits else float(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {str(k): _plain(v, levels - 1) for k, v in items if v is not ABSENT}
    if isinstance(value, (list, tuple)):
        return [_plain(item, levels - 1) for item in cast("Sequence[Any]", value)]
    return value


def _name(kind: Any) -> str:
    return str(kind.name()).lower()


def _short_message(error: Exception) -> str:
    """What is wrong, without the picture of the place that the engine draws."""
    first = str(error).partition("\n")[0]
    return re.sub(r"^[A-Z_]+: (?:ERROR: )?(?:<input>:)?|\s*\[[A-Z_]+\]$", "", first)


def _explain(problem: str) -> str:
    problem = _short_message(RuntimeError(problem))
    numbers = {"int64", "double"}
    overload = re.search(r"No matching overloads found : (\S+?)\((\w+), (\w+)\)", problem)
    if overload and {overload[2], overload[3]} == numbers:
        return (
            f"{problem}. Whole and other numbers are reckoned apart: write double(...) around one."
        )
    return problem

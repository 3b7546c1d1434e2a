"""Conditions over JSON values in CEL, held to a yes or a no.

The engine fails open where it is used naively: an error is a value, and a text counts as true. Here
an error raises, and so does whatever is not a boolean. An expression sees only the data that it
names, so that neither the size of other values nor what CEL cannot say in them matters to it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct

from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from cel_expr_python.cel import Env, Expression

Kind = Literal["object", "any", "integer", "time"]
"""What a variable of a condition holds."""

MAX_CHARACTERS = 4_000
_MAX_DEPTH = 100
_MAX_INTEGER = 2**63
_NOTHING = object()

_STRING = r"""[rRbB]{0,2}(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
_BELOW = r"""\s*\.\s*(?:[A-Za-z_]\w*)(?!\w|\s*\()|\s*\[\s*(?:\d+|"[^"\\\n]*"|'[^'\\\n]*')\s*\]"""
_KEY = re.compile(r"\.\s*(\w+)|\[\s*(?:(\d+)|\"([^\"]*)\"|'([^']*)')\s*\]")


class Mention(Struct, frozen=True, kw_only=True):
    """Data that a condition names.

    Attributes:
        root: The variable.
        keys: Names and 0-based indexes below it.
        asked: Whether it is only asked for, by `has(...)`.
    """

    root: str
    keys: tuple[str | int, ...] = ()
    asked: bool = False


class Condition(Struct, frozen=True, kw_only=True):
    """A compiled expression.

    Attributes:
        kind: What type it gives, as CEL calls it; `dyn` where only its values can tell.
        mentions: The data that it names.
        missing: A value of the data that stands for no value.
    """

    text: str
    kind: str
    mentions: tuple[Mention, ...]
    expression: "Expression"
    missing: object

    @property
    def can_be_boolean(self) -> bool:
        """Whether it is a condition at all."""
        return self.kind in {"bool", "dyn"}

    def names(self, root: str) -> bool:
        """Whether it names something of a variable."""
        return any(mention.root == root for mention in self.mentions)

    def holds(self, data: Mapping[str, Any]) -> bool:
        """Whether it is true of this data.

        Raises:
            InvalidRequest: It cannot be told, or it is neither true nor false.
        """
        try:
            value = self.expression.eval(data=_select(self, data))
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


class ConditionLanguage:
    """CEL over some variables.

    Args:
        variables: What each variable holds, by its name.
        missing: A value of the data that stands for no value.
    """

    def __init__(self, variables: Mapping[str, Kind], *, missing: object = _NOTHING) -> None:
        self._variables = dict(variables)
        self._missing = missing
        roots = "|".join(variables)
        self._token = re.compile(
            rf"//[^\n]*|{_STRING}|(?P<has>\bhas\s*\(\s*)?(?<![\w.])(?P<root>{roots})\b(?!\s*\()"
            rf"(?P<below>(?:{_BELOW})*)",
            re.DOTALL,
        )
        self.compile = lru_cache(maxsize=4096)(self._compile)
        """Compiles an expression, once; raises `InvalidRequest` that says where it is wrong."""

    def _compile(self, text: str) -> Condition:
        if len(text) > MAX_CHARACTERS:
            raise InvalidRequest(f"A condition has at most {MAX_CHARACTERS} characters.")
        try:
            expression = self._environment.compile(text)
            kind = _name(expression.return_type())
        except (RuntimeError, TypeError, UnicodeError) as error:
            raise InvalidRequest(f"'{text}' is no condition: {_short_message(error)}") from error
        return Condition(
            text=text,
            kind=kind,
            mentions=tuple(self._find_mentions(text)),
            expression=expression,
            missing=self._missing,
        )

    @cached_property
    def _environment(self) -> "Env":
        from cel_expr_python import cel

        of = cel.Type
        types = {
            "object": of.Map(of.STRING, of.DYN),
            "any": of.DYN,
            "integer": of.INT,
            "time": of.TIMESTAMP,
        }
        return cel.NewEnv(variables={name: types[kind] for name, kind in self._variables.items()})

    def _find_mentions(self, text: str) -> Iterator[Mention]:
        for match in self._token.finditer(text):
            if (root := match["root"]) is not None:
                keys = tuple(_keys(match["below"]))
                yield Mention(root=root, keys=keys, asked=match["has"] is not None)


def _keys(below: str) -> Iterator[str | int]:
    for name, index, double, single in _KEY.findall(below):
        yield int(index) if index else name or double or single


def _select(condition: Condition, data: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the data that an expression names, in values that CEL knows."""
    needed: dict[str, Any] = {}
    for mention in condition.mentions:
        if mention.root in data:
            _copy(needed, data, (mention.root, *mention.keys), condition.missing)
    return needed


def _copy(
    into: dict[str, Any], data: Mapping[str, Any], keys: tuple[str | int, ...], missing: object
) -> None:
    """Copy what is at the end of a path, or as far as the path leads through objects."""
    for place, key in enumerate(keys):
        value = data.get(cast("str", key), _NOTHING)
        if value is _NOTHING or value is missing:
            return
        name = cast("str", key)
        rest = keys[place + 1 :]
        if not rest or not isinstance(rest[0], str) or not isinstance(value, Mapping):
            into[name] = _plain(value, _MAX_DEPTH, missing)
            return
        inner = into.setdefault(name, {})
        into, data = inner, cast("Mapping[str, Any]", value)


def _plain(value: Any, levels: int, missing: object) -> Any:
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
        return {str(k): _plain(v, levels - 1, missing) for k, v in items if v is not missing}
    if isinstance(value, (list, tuple)):
        return [_plain(item, levels - 1, missing) for item in cast("Sequence[Any]", value)]
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

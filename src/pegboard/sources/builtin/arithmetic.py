"""Evaluates arithmetic without `eval`: a few syntax nodes, with bounds on depth and size."""

import ast
import math
from collections.abc import Callable, Mapping

from pegboard.errors import InvalidRequest

Number = int | float

_MAX_BITS = 13_000  # about 3,900 digits: Python refuses to write integers of more than 4,300
_MAX_DEPTH = 100
_MAX_FACTORIAL = 1_400
_MAX_CHOICES = 20_000
_MAX_ROUND_DIGITS = 400

_CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_SPELLINGS = str.maketrans(
    {"\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-", "\u03c0": "pi"}
)


def evaluate(expression: str) -> Number:
    """Return the value of an arithmetic expression; integers stay exact.

    Raises:
        InvalidRequest: It is not arithmetic, has no real value, or is too large.
    """
    try:
        tree = ast.parse(expression.strip().translate(_SPELLINGS), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InvalidRequest(f"Not an arithmetic expression: {_syntax(error)}.") from error
    try:
        value = _value(tree.body, 0)
    except ZeroDivisionError as error:
        raise InvalidRequest("Division by zero.") from error
    except OverflowError as error:
        raise InvalidRequest("The result is too large.") from error
    except (ValueError, TypeError) as error:
        raise InvalidRequest(f"Cannot be evaluated: {error}.") from error
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidRequest("The result is not a finite number.")
    return value


def _value(node: ast.expr, depth: int) -> Number:
    if depth > _MAX_DEPTH:
        raise InvalidRequest(f"Nested deeper than {_MAX_DEPTH} levels.")
    match node:
        case ast.Constant(value=bool() | complex() | str() | bytes() | None):
            raise InvalidRequest(f"Only numbers can be computed with, found {node.value!r}.")
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.BinOp():
            return _binary(node, depth)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, depth + 1)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, depth + 1)
        case ast.Name(id=name):
            return _constant(name)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return _call(name, [_value(argument, depth + 1) for argument in args])
        case _:
            raise InvalidRequest(_describe_unsupported(node))


def _binary(node: ast.BinOp, depth: int) -> Number:
    """Walk down the left side in a loop, so that a long sum does not recurse."""
    chain: list[ast.BinOp] = []
    first: ast.expr = node
    while isinstance(first, ast.BinOp):
        chain.append(first)
        first = first.left
    value = _value(first, depth + 1)
    for part in reversed(chain):
        value = _apply(part, value, _value(part.right, depth + 1))
    return value


def _apply(node: ast.BinOp, left: Number, right: Number) -> Number:
    match node.op:
        case ast.Add():
            return _check_bounds(left + right)
        case ast.Sub():
            return _check_bounds(left - right)
        case ast.Mult():
            return _check_bounds(left * right)
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow():
            return _power(left, right)
        case _:
            raise InvalidRequest(_describe_unsupported(node))


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 0:
        if base.bit_length() * exponent > _MAX_BITS + exponent:
            raise OverflowError
        return _check_bounds(base**exponent)
    result = base**exponent
    if isinstance(result, complex):
        raise InvalidRequest("A negative number to a fractional power is not a real number.")
    return result


def _check_bounds(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise OverflowError
    return value


def _constant(name: str) -> float:
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in _FUNCTIONS:
        raise InvalidRequest(f"'{name}' is a function: write {name}(...).")
    raise InvalidRequest(f"Unknown name '{name}'; known are {', '.join(_CONSTANTS)}.")


def _call(name: str, arguments: list[Number]) -> Number:
    function = _FUNCTIONS.get(name)
    if function is None:
        raise InvalidRequest(f"Unknown function '{name}'; known are {', '.join(_FUNCTIONS)}.")
    return _check_bounds(function(*arguments))


def _factorial(n: Number) -> int:
    whole = _whole(n)
    if whole > _MAX_FACTORIAL:
        raise OverflowError
    return math.factorial(whole)


def _comb(n: Number, k: Number) -> int:
    return math.comb(_whole(n, most=_MAX_CHOICES), _whole(k))


def _perm(n: Number, k: Number) -> int:
    whole, taken = _whole(n, most=_MAX_CHOICES), _whole(k)
    if taken <= whole and whole.bit_length() * taken > 2 * _MAX_BITS:
        raise OverflowError
    return math.perm(whole, taken)


def _whole(value: Number, *, most: int | None = None) -> int:
    if value != int(value):
        raise ValueError("a whole number is needed")
    if most is not None and value > most:
        raise OverflowError
    return int(value)


def _round(value: Number, digits: Number = 0) -> Number:
    places = _whole(digits)
    if abs(places) > _MAX_ROUND_DIGITS:
        raise ValueError(f"at most {_MAX_ROUND_DIGITS} digits can be rounded to")
    return round(value, places) if places else round(value)


def _magnitude(value: Number) -> Number:
    return abs(value)


def _root(value: Number) -> Number:
    """Return the square root, exact where possible."""
    if isinstance(value, int) and value >= 0 and math.isqrt(value) ** 2 == value:
        return math.isqrt(value)
    return math.sqrt(value)


def _mean(*values: Number) -> float:
    return math.fsum(values) / len(values)


def _gcd(*values: Number) -> int:
    return math.gcd(*map(_whole, values))


def _lcm(*values: Number) -> int:
    result = 1
    for value in values:
        result = int(_check_bounds(math.lcm(result, _whole(value))))
    return result


_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "sqrt": _root, "cbrt": math.cbrt, "exp": math.exp, "pow": _power,
    "log": math.log, "ln": math.log, "log2": math.log2, "log10": math.log10,
    "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "atan": math.atan, "atan2": math.atan2,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "degrees": math.degrees, "radians": math.radians, "hypot": math.hypot,
    "abs": _magnitude, "round": _round, "floor": math.floor, "ceil": math.ceil,
    "trunc": int, "min": min, "max": max, "mean": _mean,
    "factorial": _factorial, "comb": _comb, "perm": _perm, "gcd": _gcd, "lcm": _lcm,
}  # fmt: skip

_HINTS: Mapping[type[ast.AST], str] = {
    ast.BitXor: "'^' is not supported: write ** for a power",
    ast.Tuple: "a comma separates arguments of a function: write 1000, not 1,000",
    ast.Compare: "comparisons are not supported",
    ast.Call: "functions are called by their name, with values in order: log(8, 2)",
}


def _describe_unsupported(node: ast.AST) -> str:
    kind = type(node.op) if isinstance(node, ast.BinOp) else type(node)
    hint = _HINTS.get(
        kind, "only numbers, + - * / // % **, parentheses and functions are supported"
    )
    return f"Not supported here: {hint}."


def _syntax(error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.offset is not None:
        return f"{error.msg} at character {error.offset}"
    return "it is nested too deep or not text"

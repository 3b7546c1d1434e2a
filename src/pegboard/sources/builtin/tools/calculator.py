"""`calculator`: exact arithmetic."""

from typing import Annotated

from pydantic import Field

from pegboard.sources.builtin.arithmetic import evaluate
from pegboard.tools import tool


@tool(
    effect="read",
    category="computation",
    idempotent=True,
    inline=True,
    tags=("math", "arithmetic"),
    capabilities=("calculate",),
)
def calculator(
    expression: Annotated[str, Field(min_length=1, max_length=1000)],
) -> int | float:
    """Evaluate an arithmetic expression and return its value.

    Supports + - * / // (floor division) % (remainder) ** (power), parentheses, the constants pi,
    e and tau, and these functions: sqrt, cbrt, exp, pow, log(x) and log(x, base), ln, log2, log10,
    sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh (angles in radians), degrees, radians,
    hypot, abs, round(x, digits), floor, ceil, trunc, min, max, mean, factorial, comb, perm, gcd,
    lcm. Whole numbers are exact however long. No variables, no comparisons.

    Args:
        expression: For example "(17.5 - 3) * 2 ** 10 / sqrt(2)". Write 1000, not 1,000.
    """
    return evaluate(expression)

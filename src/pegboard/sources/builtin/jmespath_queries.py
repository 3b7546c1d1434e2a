"""JMESPath queries with bounds on time and size.

It imports the library, so the module itself is imported on the first query.
"""

from functools import lru_cache
from typing import Any, cast

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from jmespath.visitor import Options, TreeInterpreter

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.computation_budget import Budget

_MAKES_NEW = frozenset(
    {
        "function_expression", "multi_select_list", "multi_select_dict", "flatten", "slice",
        "projection", "filter_projection", "value_projection",
    }
)  # fmt: skip


def query(document: Any, expression: str) -> Any:
    """Return what a JMESPath expression selects from a document.

    Raises:
        InvalidRequest: The expression is malformed, does not fit the document, or exceeds the
            budget.
    """
    try:
        return _BudgetInterpreter(Budget()).run(_parse(expression), document)
    except (JMESPathError, ValueError, TypeError, ArithmeticError) as error:
        raise InvalidRequest(f"The JMESPath expression fails: {error}") from error
    except RecursionError as error:
        raise InvalidRequest("The expression or the document is nested too deep.") from error


@lru_cache(maxsize=256)
def _parse(expression: str) -> Any:
    return jmespath.compile(expression).parsed


class _BudgetFunctions(Functions):
    """The standard functions, each charged for the size of its arguments."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def call_function(self, function_name: str, resolved_args: Any) -> Any:
        arguments = cast("list[Any]", resolved_args)
        for argument in arguments:
            if isinstance(argument, (str, list, dict)):
                self._budget.step(1 + len(cast("list[Any]", argument)) // 8)
        if function_name == "join" and len(arguments) == 2 and _can_join(arguments):
            self._budget.check(len(arguments[0]) * len(arguments[1]))
        return super().call_function(function_name, resolved_args)


class _BudgetInterpreter(TreeInterpreter):
    """The library's interpreter, which counts every step and weighs every new value."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(Options(custom_functions=_BudgetFunctions(budget)))
        self._budget = budget

    def run(self, parsed: Any, document: Any) -> Any:
        self._budget.weigh(document)
        found = self.visit(parsed, document)
        self._budget.weigh(found)
        return found

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._budget.step()
        found = super().visit(node, *args, **kwargs)
        if node["type"] in _MAKES_NEW:
            self._charge(found)
        return found

    def _charge(self, made: Any) -> None:
        if isinstance(made, (str, list, dict)):
            self._budget.step(len(cast("list[Any]", made)) // 8)
            self._budget.weigh(made)


def _can_join(arguments: list[Any]) -> bool:
    return isinstance(arguments[0], str) and isinstance(arguments[1], list)

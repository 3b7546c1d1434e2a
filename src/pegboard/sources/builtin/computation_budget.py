"""The budget of a computation on untrusted JSON."""

from typing import Any, cast

from pegboard.errors import InvalidRequest

_MAX_WEIGHT = 2_000_000
_MAX_STEPS = 300_000
_EACH = 8


class Budget:
    """Counts steps and weighs values that share their parts.

    A value may be small in memory and huge once encoded, for example if each of twenty lists holds
    the previous one twice. The weight is that of the encoded form: one for each character of text
    and eight for each value.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._known: dict[int, tuple[Any, int]] = {}

    def step(self, count: int = 1) -> None:
        """Count some steps of work.

        Raises:
            InvalidRequest: The budget is exceeded.
        """
        self._steps += count
        if self._steps > _MAX_STEPS:
            raise InvalidRequest("This takes too long on so large a document; narrow it first.")

    def weigh(self, value: Any) -> int:
        """Return the weight of a JSON value.

        Raises:
            InvalidRequest: It exceeds the budget, or is not JSON.
        """
        weight = self._weight(value)
        self.check(weight)
        return weight

    def check(self, weight: int) -> None:
        """Refuse a weight that exceeds the budget.

        Raises:
            InvalidRequest: It exceeds the budget.
        """
        if weight > _MAX_WEIGHT:
            raise InvalidRequest("The document or the result is too large.")

    def _weight(self, value: Any) -> int:
        if isinstance(value, str):
            return _EACH + len(value)
        if value is None or isinstance(value, (bool, int, float)):
            return _EACH
        known = self._known.get(id(value))
        if known is not None:
            return known[1]
        if isinstance(value, list):
            weight = _EACH + sum(map(self._weight, cast("list[Any]", value)))
        elif isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            weight = _EACH + sum(len(key) + self._weight(item) for key, item in items)
        else:
            raise InvalidRequest("The result is not a JSON value.")
        # Kept together, so that no later value gets the same id.
        self._known[id(cast("Any", value))] = (value, weight)
        return weight

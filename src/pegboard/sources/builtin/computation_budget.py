"""How much a computation on somebody else's JSON may take."""

from typing import Any, cast

from pegboard.errors import InvalidRequest

_MAX_WEIGHT = 2_000_000
_MAX_STEPS = 300_000
_EACH = 8


class Budget:
    """Counts steps, and weighs values that share their parts.

    A value may be small in memory and enormous when written out, as when each of twenty lists holds
    the one before it twice. The weight is that of the written form: one for each character of text
    and eight for each value.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._known: dict[int, tuple[Any, int]] = {}

    def step(self, count: int = 1) -> None:
        """Take note of some work.

        Raises:
            InvalidRequest: It was too much.
        """
        self._steps += count
        if self._steps > _MAX_STEPS:
            raise InvalidRequest("This takes too long on so large a document; narrow it first.")

    def weigh(self, value: Any) -> int:
        """The weight of a JSON value.

        Raises:
            InvalidRequest: It is too heavy, or not JSON.
        """
        weight = self._weight(value)
        self.check(weight)
        return weight

    def check(self, weight: int) -> None:
        """Refuse what would weigh too much.

        Raises:
            InvalidRequest: It would.
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

"""What the results of runs contain, as far as arguments of later calls may come from them."""

from collections import OrderedDict, deque
from collections.abc import Sequence

from pegboard.access.result_values import ResultValues

_MAX_RESULTS = 100
_MAX_SIZE = 32_000_000


class ResultMemory:
    """The last results of the latest runs and conversations, in memory."""

    def __init__(self, *, max_size: int = _MAX_SIZE) -> None:
        self._max_size = max_size
        self._of_subject: OrderedDict[str, deque[ResultValues]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._size = 0

    def add(self, subject: str, values: ResultValues) -> None:
        """Add what a result contains."""
        kept = self._of_subject.setdefault(subject, deque())
        self._of_subject.move_to_end(subject)
        kept.append(values)
        self._grow(subject, _size_of(values))
        while len(kept) > _MAX_RESULTS or (self._sizes[subject] > self._max_size // 4 and kept):
            self._grow(subject, -_size_of(kept.popleft()))
        while self._size > self._max_size:
            oldest, _ = self._of_subject.popitem(last=False)
            self._size -= self._sizes.pop(oldest)

    def list(self, subject: str) -> Sequence[ResultValues]:
        """Those of a run or conversation, in their order."""
        return tuple(self._of_subject.get(subject, ()))

    def _grow(self, subject: str, size: int) -> None:
        self._sizes[subject] = self._sizes.get(subject, 0) + size
        self._size += size


def _size_of(values: ResultValues) -> int:
    texts = (*values.values, *values.asked_with)
    return 200 + len(values.text) + sum(len(item) + 60 for item in texts)

"""Where the boxes of a layered drawing stand: each below all that leads to it."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise

from pegboard.errors import InvalidRequest

MOST_PLACES = 20_000
_SWEEPS = 12
Point = Hashable
Way = tuple[Point, Point]


class Layout:
    """Layers from top to bottom, and how each is ordered and spread.

    A line that passes a layer has a place of its own there, so that it crosses no box.

    Args:
        widths: Of the boxes, by id, in the order in which they were given.
        ways: Pairs of ids: from, to. Ways back and to nothing are not looked at.
        gap: Between two boxes of a layer.

    Attributes:
        layers: Boxes and places of lines, from left to right.
        left: Where each begins.
        chains: Of each way, all that it goes through.
        depth_of: In which layer each is.

    Raises:
        InvalidRequest: The lines would fill more places than a picture can show.
    """

    def __init__(
        self, widths: Mapping[str, float], ways: Iterable[tuple[str, str]], *, gap: float
    ) -> None:
        self.left: dict[Point, float] = {}
        self.chains: dict[tuple[str, str], list[Point]] = {}
        self._widths: dict[Point, float] = {**widths}
        self._gap = gap
        self._below: dict[Point, list[Point]] = {}
        self._above: dict[Point, list[Point]] = {}
        known = [way for way in dict.fromkeys(ways) if way[0] in widths and way[1] in widths]
        depths = _depths(list(widths), known)
        forward = [way for way in known if depths[way[0]] < depths[way[1]]]
        places = sum(depths[second] - depths[first] - 1 for first, second in forward)
        if places > MOST_PLACES:
            raise InvalidRequest("The arrows are too many and too long for a picture.")
        self.layers: list[list[Point]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
        for point, depth in depths.items():
            self.layers[depth].append(point)
        for way in forward:
            self._thread(way, depths[way[0]], depths[way[1]])
        self.depth_of = {p: depth for depth, layer in enumerate(self.layers) for p in layer}
        self._order()
        self._spread()

    def width_of(self, point: Point) -> float:
        """Of a box, or of the place of a line."""
        return self._widths[point]

    def middle(self, point: Point) -> float:
        """Where its middle is."""
        return self.left[point] + self._widths[point] / 2

    @property
    def width(self) -> float:
        """Of the whole."""
        return max((self.left[p] + self._widths[p] for p in self.left), default=0.0)

    def _thread(self, way: tuple[str, str], first: int, last: int) -> None:
        chain: list[Point] = [way[0]]
        for depth in range(first + 1, last):
            place: Point = (way, depth)
            self._widths[place] = 0.0
            self.layers[depth].append(place)
            chain.append(place)
        chain.append(way[1])
        self.chains[way] = chain
        for upper, lower in pairwise(chain):
            self._below.setdefault(upper, []).append(lower)
            self._above.setdefault(lower, []).append(upper)

    def _order(self) -> None:
        """Each near what it is connected to, so that few lines cross."""
        for sweep in range(_SWEEPS):
            is_down = sweep % 2 == 0
            near = self._above if is_down else self._below
            for layer in self.layers if is_down else reversed(self.layers):
                places = {point: float(at) for at, point in enumerate(layer)}
                other = self._places()
                for point in layer:
                    if near.get(point):
                        places[point] = _mean([other[item] for item in near[point]])
                layer.sort(key=places.__getitem__)

    def _places(self) -> dict[Point, float]:
        return {point: float(at) for layer in self.layers for at, point in enumerate(layer)}

    def _spread(self) -> None:
        """Each below the middle of what leads to it, as far as its neighbours let it."""
        for layer in self.layers:
            self._put(layer, [0.0] * len(layer))
        for sweep in range(_SWEEPS):
            is_down = sweep % 2 == 0
            near = self._above if is_down else self._below
            for layer in self.layers if is_down else reversed(self.layers):
                wanted = [
                    _mean([self.middle(item) for item in near[point]])
                    if near.get(point)
                    else self.middle(point)
                    for point in layer
                ]
                self._put(layer, wanted)
        first = min(self.left.values(), default=0.0)
        for point in self.left:
            self.left[point] -= first

    def _put(self, layer: Sequence[Point], wanted: Sequence[float]) -> None:
        """Place a layer in its order: blocks that touch stand where their mean wants to be."""
        blocks: list[tuple[list[Point], float, float]] = []  # points, wanted begin, width
        for point, middle in zip(layer, wanted, strict=True):
            width = self._widths[point]
            block = ([point], middle - width / 2, width)
            while blocks and blocks[-1][1] + blocks[-1][2] + self._gap > block[1]:
                block = self._join_blocks(blocks.pop(), block)
            blocks.append(block)
        for points, begin, _ in blocks:
            at = begin
            for point in points:
                self.left[point] = at
                at += self._widths[point] + self._gap

    def _join_blocks(
        self, one: tuple[list[Point], float, float], two: tuple[list[Point], float, float]
    ) -> tuple[list[Point], float, float]:
        begin = two[1] - one[2] - self._gap  # where the second wants the first to begin
        count, more = len(one[0]), len(two[0])
        mean = (one[1] * count + begin * more) / (count + more)
        return [*one[0], *two[0]], mean, one[2] + self._gap + two[2]


def _depths(ids: Sequence[str], ways: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The longest way to each, in the order given; a way that closes a circle is left out."""
    below: dict[str, list[str]] = {item: [] for item in ids}
    open_ways = dict.fromkeys(ids, 0)
    for first, second in ways:
        below[first].append(second)
        open_ways[second] += 1
    depths = dict.fromkeys(ids, 0)
    left = dict.fromkeys(ids)
    ready = [item for item in ids if not open_ways[item]]
    while left:
        if not ready:  # only circles are left: break one where it was written first
            ready.append(next(iter(left)))
        item = ready.pop()
        if item not in left:
            continue
        del left[item]
        for other in below[item]:
            if other in left:
                depths[other] = max(depths[other], depths[item] + 1)
                open_ways[other] -= 1
                if not open_ways[other]:
                    ready.append(other)
    return depths


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

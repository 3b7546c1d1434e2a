"""Reads external catalogues page by page, each within its own limits."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from pegboard.core.ports.clock import Clock
from pegboard.core.ports.http import HttpClient, HttpRequest
from pegboard.errors import PegboardError, Unavailable
from pegboard.features.marketplace.entries import (
    EntryPage,
    Market,
    MarketEntry,
    MarketKind,
    UnusableEntry,
)
from pegboard.features.marketplace.formats import mcp_registry, openapi_directory, pegboard
from pegboard.tools.safe_files import read_file

_KEEP_SECONDS = 60.0
_KEEP_FAILURE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How a kind of catalogue is read.

    Attributes:
        first: Returns the address of the first page.
        read: Parses a page; raises `UnusableEntry` if the format is another.
        of_one: Returns the address to look up one entry; None if all must be read.
        is_followed: Whether redirects may be followed: never with a token.
    """

    first: Callable[[Market], str]
    read: Callable[[Any, Market, str], EntryPage]
    of_one: Callable[[Market, str], str] | None = None
    is_followed: bool = True


FORMATS: Mapping[MarketKind, Format] = {
    "mcp_registry": Format(
        first=mcp_registry.first_page,
        read=mcp_registry.read_page,
        of_one=mcp_registry.page_of_one,
    ),
    "openapi_directory": Format(
        first=openapi_directory.first_page, read=openapi_directory.read_page
    ),
    "pegboard": Format(first=pegboard.first_page, read=pegboard.read_page, is_followed=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits for reading a catalogue.

    Attributes:
        page: Bytes of one page.
        size: Bytes of all pages.
    """

    page: int = 32 * 2**20
    size: int = 64 * 2**20
    pages: int = 300
    entries: int = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueSnapshot:
    """The entries of a catalogue, as far as they could be read.

    Attributes:
        entries: Sorted by name.
        problem: Why it is incomplete or outdated; empty otherwise.
        skipped: Number of entries left out, by reason.
        examples: Name of one such entry, by reason.
        read_at: Unix seconds; 0 if it was never read.
    """

    entries: tuple[MarketEntry, ...] = ()
    problem: str = ""
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    examples: Mapping[str, str] = field(default_factory=dict[str, str])
    read_at: float = 0.0

    @property
    def status(self) -> str:
        """`ok`, `degraded` (incomplete or outdated) or `failed` (nothing)."""
        if not self.problem:
            return "ok"
        return "degraded" if self.read_at else "failed"


@dataclass(slots=True)
class _CacheEntry:
    """The last snapshot of a catalogue, and the lock of its reader."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    stock: CatalogueSnapshot = CatalogueSnapshot()
    at: float = float("-inf")


class CatalogueReader:
    """Reads catalogues, and caches them for a minute.

    Args:
        http: The HTTP client; None on a board without network access.
        clock: Measures the age of snapshots.
        within: Time limit for one catalogue, in seconds.
        bounds: Limits for reading a catalogue.
    """

    def __init__(
        self,
        http: HttpClient | None,
        clock: Clock,
        *,
        within: float = 20.0,
        bounds: Bounds | None = None,
    ) -> None:
        self._http = http
        self._bounds = bounds or Bounds()
        self._clock = clock
        self._within = within
        self._kept: dict[Market, _CacheEntry] = {}

    async def read(self, market: Market) -> CatalogueSnapshot:
        """Return the entries of a catalogue; never raises for foreign faults."""
        kept = self._kept.setdefault(market, _CacheEntry())
        async with kept.turn:
            age = self._clock.monotonic() - kept.at
            if age > (_KEEP_FAILURE_SECONDS if kept.stock.problem else _KEEP_SECONDS):
                kept.stock = await self._refresh(market, kept.stock)
                kept.at = self._clock.monotonic()
            return kept.stock

    async def find_entry(self, market: Market, name: str) -> MarketEntry | None:
        """Read one entry without the cache; None if there is none.

        Raises:
            Unavailable: The catalogue cannot be read completely.
        """
        of_one = FORMATS[market.kind].of_one
        first = None if of_one is None else of_one(market, name)
        reading = _CatalogueScan(market, self._http, self._bounds)
        problem = await self._scan(reading, first)
        found = reading.found.get(name)
        if found is None and problem:
            raise Unavailable(f"The marketplace '{market.name}' cannot be read: {problem}")
        return found

    def forget(self, markets: "frozenset[Market] | set[Market]") -> None:
        """Drop the snapshots of all marketplaces but these."""
        for market in self._kept.keys() - markets:
            del self._kept[market]

    async def _refresh(self, market: Market, before: CatalogueSnapshot) -> CatalogueSnapshot:
        reading = _CatalogueScan(market, self._http, self._bounds)
        problem = await self._scan(reading, None)
        if problem and not reading.pages:
            if not before.read_at:
                return CatalogueSnapshot(problem=problem)
            return replace(before, problem=f"{problem} The last known entries are shown.")
        return CatalogueSnapshot(
            entries=tuple(reading.found[name] for name in sorted(reading.found)),
            problem=f"It is incomplete: {problem}" if problem else "",
            skipped=dict(reading.skipped),
            examples=reading.examples,
            read_at=self._clock.time(),
        )

    async def _scan(self, reading: "_CatalogueScan", first: str | None) -> str:
        """Read all pages; return why that failed, or an empty text."""
        try:
            async with asyncio.timeout(self._within):
                await reading.all(first)
        except TimeoutError:
            return f"it took more than {self._within:g} s."
        except UnusableEntry as error:
            return f"{error}."
        except PegboardError as error:
            return error.message
        return ""


class _CatalogueScan:
    """One pass over a catalogue; what was read stays, however it ends."""

    def __init__(self, market: Market, http: HttpClient | None, bounds: Bounds) -> None:
        self._bounds = bounds
        self._market = market
        self._http = http
        self._bytes = 0
        self.pages = 0
        self.found: dict[str, MarketEntry] = {}
        self.skipped: Counter[str] = Counter()
        self.examples: dict[str, str] = {}

    async def all(self, first: str | None) -> None:
        """Read page after page."""
        format_ = FORMATS[self._market.kind]
        following, asked = first or format_.first(self._market), set[str]()
        while following:
            if following in asked or len(asked) >= self._bounds.pages:
                raise UnusableEntry(
                    f"it has more than {len(asked)} pages, or its pages form a loop"
                )
            asked.add(following)
            following = await self._page(following, format_)

    async def _page(self, place: str, format_: Format) -> str:
        raw = await self._raw(place, is_followed=format_.is_followed)
        self._bytes += len(raw)
        if self._bytes > self._bounds.size:
            raise UnusableEntry(f"it has more than {self._bounds.size:,} bytes")
        page = await asyncio.to_thread(_parse, raw, self._market, place, format_)
        self.pages += 1
        for reason, name in page.skipped:
            self.skipped[reason] += 1
            self.examples.setdefault(reason, name)
        for entry in page.entries:
            if len(self.found) == self._bounds.entries and entry.id not in self.found:
                raise UnusableEntry(f"it has more than {self._bounds.entries:,} entries")
            self.found.setdefault(entry.id, entry)
        return page.following

    async def _raw(self, place: str, *, is_followed: bool) -> bytes:
        market = self._market
        if not market.is_remote:
            return await asyncio.to_thread(_file, market, self._bounds.page)
        if self._http is None:
            raise Unavailable("this board has no network access")
        headers = {"accept": "application/json"}
        if market.token:
            headers["authorization"] = f"Bearer {market.token}"
        response = await self._http.send(
            HttpRequest(
                method="GET",
                url=place,
                headers=headers,
                max_bytes=self._bounds.page,
                follow_redirects=is_followed,
                upstream=f"marketplace:{market.name}",
            )
        )
        if response.status != 200:
            raise Unavailable(f"its server answered {response.status}.")
        if response.truncated:
            raise UnusableEntry(f"a page has more than {self._bounds.page:,} bytes")
        return response.content


def _file(market: Market, most: int) -> bytes:
    try:
        return read_file(market.base_dir / market.place, most=most)
    except OSError as error:
        raise Unavailable(f"the file cannot be read: {error.strerror}.") from error


def _parse(raw: bytes, market: Market, place: str, format_: Format) -> EntryPage:
    try:
        document: Any = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UnusableEntry("it is not JSON") from error
    except RecursionError as error:
        raise UnusableEntry("it is nested too deeply") from error
    return format_.read(document, market, place)

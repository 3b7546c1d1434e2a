"""The `Marketplace` service: browses external catalogues, reviews and adds entries."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.event import BoardChanged
from pegboard.core.principal import Principal
from pegboard.core.text.suggestions import nearest_names
from pegboard.errors import DefinitionChanged, DuplicateTool, EntryNotFound, InvalidRequest
from pegboard.features.catalogue import CatalogueService, RegistrationResult
from pegboard.features.marketplace.catalogue_reader import CatalogueReader
from pegboard.features.marketplace.entries import Market
from pegboard.features.marketplace.review import (
    EntrySelection,
    ListTools,
    Review,
    review_entry,
)
from pegboard.features.marketplace.review_digest import differences
from pegboard.features.marketplace.search import EntryQuery, search_entries
from pegboard.features.permissions import check_may_change_catalogue
from pegboard.registry import ToolRegistry

_MAX_REVIEWS = 100
_MAX_CHANGES = 10


class Marketplace:
    """External catalogues whose entries can be added after a review.

    ```python
    found = await board.marketplace.browse(EntryQuery(capability="weather"))
    review = await board.marketplace.review("official", "io.example/weather")
    await board.marketplace.add("official", "io.example/weather", digest=review.digest)
    ```

    Args:
        registry: Its clock and listeners are used.
        catalogue: Registers tools.
        catalogues: Reads external catalogues.
        markets: Returns the configured marketplaces.
        look: Lists the tools of a source that is not on the board.
        environ: The environment variables of the process.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        catalogue: CatalogueService,
        catalogues: CatalogueReader,
        *,
        markets: Callable[[], Sequence[Market]],
        look: ListTools,
        environ: Mapping[str, str],
    ) -> None:
        self._registry = registry
        self._catalogue = catalogue
        self._catalogues = catalogues
        self._markets = markets
        self._look = look
        self._environ = environ
        self._looked_at: OrderedDict[str, Mapping[str, str]] = OrderedDict()

    async def browse(
        self, wanted: EntryQuery | None = None, *, principal: Principal
    ) -> dict[str, Any]:
        """Return one page of entries; a catalogue that cannot be read does not affect the others.

        Raises:
            AccessDenied: The caller lacks the scope.
            EntryNotFound: There is no such marketplace.
            InvalidRequest: The cursor is unknown.
        """
        check_may_change_catalogue(principal, "the marketplaces")
        wanted = wanted or EntryQuery()
        markets = self._markets()
        self._catalogues.forget(frozenset(markets))
        chosen = [self._market(wanted.marketplace)] if wanted.marketplace else list(markets)
        async with asyncio.TaskGroup() as group:
            reading = {item: group.create_task(self._catalogues.read(item)) for item in chosen}
        stocks = {market: task.result() for market, task in reading.items()}
        return await asyncio.to_thread(search_entries, stocks, wanted)

    async def review(
        self,
        marketplace: str,
        entry: str,
        choice: EntrySelection | None = None,
        *,
        principal: Principal,
    ) -> Review:
        """Return everything that adding an entry would do, as its catalogue and server say now.

        Nothing is started, published or stored.

        Raises:
            AccessDenied: The caller lacks the scope.
            EntryNotFound: There is no such marketplace, entry, install option or tool.
            InvalidRequest: The chosen name is not a valid source name.
            Unavailable: The catalogue cannot be read.
        """
        check_may_change_catalogue(principal, "the marketplaces")
        market = self._market(marketplace)
        found = await self._catalogues.find_entry(market, entry)
        if found is None:
            raise EntryNotFound(
                f"The marketplace '{market.name}' has no entry '{entry[:200]}' that could be added."
            )
        review = await review_entry(
            found, market, choice or EntrySelection(), look=self._look, environ=self._environ
        )
        self._remember(review)
        return review

    async def add(
        self,
        marketplace: str,
        entry: str,
        choice: EntrySelection | None = None,
        *,
        digest: str,
        principal: Principal,
    ) -> tuple[Review, list[RegistrationResult]]:
        """Register a reviewed entry completely or not at all.

        Args:
            marketplace: The marketplace.
            entry: Id of the entry.
            choice: The selection that was reviewed.
            digest: Digest of the review.
            principal: The caller.

        Raises:
            AccessDenied: The caller lacks the scope.
            EntryNotFound: There is no such marketplace or entry.
            DefinitionChanged: The entry has changed since the review; says what changed.
            DuplicateTool: A name is taken.
            InvalidRequest: The entry can only be added in the board file; says why.
            Unavailable: The catalogue cannot be read.
        """
        review = await self.confirm(marketplace, entry, choice, digest=digest, principal=principal)
        if not review.shown["can_be_registered"]:
            raise InvalidRequest(f"{review.shown['why_not']} {_IN_THE_FILE}".strip())
        origin = f"marketplace:{review.entry.market}/{review.entry.id}"
        await self._catalogue.load()
        for item in review.registrations:
            self._check_own(str(item["tool_id"]).rpartition("_v")[0], origin)
        made = await self._catalogue.register(
            review.registrations, principal=principal, origin=origin
        )
        kit = self._registry.environment
        tools = [item.spec.name for item in made]
        kit.emitter.emit(addition_event(review, principal, at=kit.now(), tools=tools))
        return review, made

    async def confirm(
        self,
        marketplace: str,
        entry: str,
        choice: EntrySelection | None = None,
        *,
        digest: str,
        principal: Principal,
    ) -> Review:
        """Return the review with this digest, if it is still current.

        Raises:
            DefinitionChanged: The entry has changed since the review; says what changed.
        """
        before = self._looked_at.get(digest)
        review = await self.review(marketplace, entry, choice, principal=principal)
        if review.digest == digest:
            return review
        changed = ""
        after = self._looked_at[review.digest]
        if before is not None and before["entry"] == after["entry"]:
            places = differences(before, after)
            more = ", ..." if len(places) > _MAX_CHANGES else ""
            changed = f" Changed: {', '.join(places[:_MAX_CHANGES])}{more}."
        raise DefinitionChanged(
            f"'{review.entry.id}' has changed since it was reviewed.{changed} Review it again; its "
            f"digest is now {review.digest}."
        )

    def _check_own(self, name: str, origin: str) -> None:
        """Refuse to replace a tool that was not added from the same entry.

        Raises:
            DuplicateTool: The tool has another origin.
        """
        known = self._catalogue.origin(name)
        if known and known != origin:
            raise DuplicateTool(name, f"'{known}'", f"'{origin}'")

    def _market(self, name: str) -> Market:
        markets = {market.name: market for market in self._markets()}
        if name in markets:
            return markets[name]
        nearest = nearest_names(name, sorted(markets)) or sorted(markets)[:5]
        there_are = f"there are: {', '.join(nearest)}" if nearest else "there is none"
        raise EntryNotFound(f"There is no marketplace '{name[:100]}' on the board; {there_are}.")

    def _remember(self, review: Review) -> None:
        self._looked_at[review.digest] = review.places
        self._looked_at.move_to_end(review.digest)
        while len(self._looked_at) > _MAX_REVIEWS:
            self._looked_at.popitem(last=False)


def addition_event(
    review: Review, principal: Principal, *, at: float, **detail: Any
) -> BoardChanged:
    """Return the audit event of an added entry."""
    return BoardChanged(
        kind="marketplace",
        action="added",
        at=at,
        subject=f"{review.entry.market}/{review.entry.id}",
        by=principal.id,
        tenant=principal.tenant,
        detail={
            "digest": review.digest,
            "way": review.way.name,
            "publisher": review.entry.publisher,
            "version": review.entry.version,
            **detail,
        },
    )


_IN_THE_FILE = (
    "Write the lines of 'board_file' into the board file, or let 'pegboard market add' do it."
)

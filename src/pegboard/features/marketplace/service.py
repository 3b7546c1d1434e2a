"""Browsing external catalogues, looking at an entry, and adding what was looked at."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.event import BoardChanged
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.suggestions import nearest_names
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
    """External catalogues whose entries can be added, each once somebody has looked at it.

    ```python
    found = await board.marketplace.browse(EntryQuery(capability="weather"))
    review = await board.marketplace.review("official", "io.example/weather")
    await board.marketplace.add("official", "io.example/weather", digest=review.digest)
    ```

    Args:
        registry: Whose clock and listeners are used.
        catalogue: What registers.
        catalogues: What reads the external ones.
        markets: Which there are now.
        look: Lists the tools of something that is not on the board.
        environ: The variables of the process.
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
        self, wanted: EntryQuery | None = None, *, principal: Principal = LOCAL
    ) -> dict[str, Any]:
        """One page of entries; a catalogue that cannot be read takes nothing from the others.

        Raises:
            AccessDenied: The caller may not.
            EntryNotFound: There is no such marketplace.
            InvalidRequest: The cursor is not one of ours.
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
        principal: Principal = LOCAL,
    ) -> Review:
        """All that would come of adding an entry, as its catalogue and its server say now.

        Nothing of it is started, put on the board or kept.

        Raises:
            AccessDenied: The caller may not.
            EntryNotFound: There is no such marketplace or entry, or no such way or tool of it.
            InvalidRequest: The choice names a name that no source may have.
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
        principal: Principal = LOCAL,
    ) -> tuple[Review, list[RegistrationResult]]:
        """Register what was looked at: all of it or nothing.

        Args:
            marketplace: Of which it is.
            entry: What the catalogue calls it.
            choice: As it was for the review.
            digest: Of the review.
            principal: Who adds it.

        Raises:
            AccessDenied: The caller may not.
            EntryNotFound: There is no such marketplace or entry.
            DefinitionChanged: It is not what was looked at any more; says what changed.
            DuplicateTool: A name is taken by something else.
            InvalidRequest: It can only be written into the board file; says why.
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
        kit = self._registry.kit
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
        principal: Principal = LOCAL,
    ) -> Review:
        """The review of this digest, if it still holds.

        Raises:
            DefinitionChanged: It does not; says what changed.
        """
        before = self._looked_at.get(digest)
        review = await self.review(marketplace, entry, choice, principal=principal)
        if review.digest == digest:
            return review
        told = ""
        after = self._looked_at[review.digest]
        if before is not None and before["entry"] == after["entry"]:
            places = differences(before, after)
            more = ", ..." if len(places) > _MAX_CHANGES else ""
            told = f" Changed: {', '.join(places[:_MAX_CHANGES])}{more}."
        raise DefinitionChanged(
            f"'{review.entry.id}' has changed since it was reviewed.{told} Review it again; its "
            f"digest is now {review.digest}."
        )

    def _check_own(self, name: str, origin: str) -> None:
        """Refuse to take the place of a tool that is of somebody else.

        Raises:
            DuplicateTool: It is there already, from elsewhere.
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
    """Who has added what, for the audit trail."""
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

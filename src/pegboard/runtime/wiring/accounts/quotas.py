"""The quotas of a board: their counters, which are stored in batches, and those of its models."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.model_messages import ModelPart, ModelRequest, ModelResponse
from pegboard.core.ports.accounts.quota_store import Measure, Window
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.principal import Principal
from pegboard.errors import PegboardError
from pegboard.execution.limits.quotas import NO_DEFAULTS, Limits, QuotaDefaults, QuotaMeter
from pegboard.runtime.board_file.quotas import QuotaEntry, QuotasEntry
from pegboard.runtime.current_board import CurrentBoard
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.quotas")
_SAVE_SECONDS = 1.0


async def open_quotas(
    storage: "Storage", settings: Settings, stack: AsyncExitStack, current: CurrentBoard
) -> QuotaMeter:
    """Open the counters, and store them every second until the stack is closed.

    Args:
        storage: Stores quotas and what was used.
        settings: Whether other servers count in the same database.
        stack: Ends it.
        current: The board file in force.

    Raises:
        Unavailable: The storage cannot be read.
    """
    is_shared = settings.database is not None
    meter = QuotaMeter(storage.quotas, defaults=_Defaults(current).read, is_shared=is_shared)
    await meter.load()
    work = meter.follow if is_shared else meter.save
    ending = asyncio.Event()
    saving = asyncio.create_task(_repeat(work, ending), name="store what is used of quotas")

    async def stop() -> None:
        ending.set()  # cancelled while it stores, it would not know what is stored already
        await asyncio.wait([saving])
        with log_and_continue(_LOG, "quotas: the last usage is not stored"):
            await meter.save()

    stack.push_async_callback(stop)
    return meter


async def _repeat(work: Callable[[], Coroutine[None, None, None]], ending: asyncio.Event) -> None:
    """Work every second until the end; what fails is done with the next time."""
    has_failed = False
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(_SAVE_SECONDS):
                await ending.wait()
                return
        with log_and_continue(_LOG, "quotas: the usage could not be stored"):
            try:
                await work()
            except PegboardError as error:
                if not has_failed:
                    _LOG.warning("quotas: the usage could not be stored yet: %s", error)
                has_failed = True
            else:
                has_failed = False


class _Defaults:
    """The defaults of the board file in force: the same object until it changes."""

    def __init__(self, current: CurrentBoard) -> None:
        self._current = current
        self._entry = QuotasEntry()
        self._defaults = NO_DEFAULTS

    def read(self) -> QuotaDefaults:
        entry = self._current.loaded.board.quotas
        if entry is not self._entry:
            self._entry, self._defaults = entry, _read_defaults(entry)
        return self._defaults


def _read_defaults(entry: QuotasEntry) -> QuotaDefaults:
    return QuotaDefaults(
        person=_read_limits(entry.person),
        service=_read_limits(entry.service),
        organisation=_read_limits(entry.organisation),
    )


def _read_limits(entry: QuotaEntry) -> Limits:
    found: dict[tuple[Measure, Window], float | None] = {
        ("calls", "day"): entry.calls_per_day,
        ("calls", "month"): entry.calls_per_month,
        ("cost", "day"): entry.cost_per_day,
        ("cost", "month"): entry.cost_per_month,
    }
    return {key: limit for key, limit in found.items() if limit is not None}


class MeteredModel:
    """A chat model whose cost counts for the account and organisation of a caller.

    What an answer costs is known when it is complete: the one that exceeds a quota is still given.

    Args:
        model: Is asked.
        meter: Counts.
        principal: The caller.
    """

    def __init__(self, model: ChatModel, meter: QuotaMeter, principal: Principal) -> None:
        self._model = model
        self._meter = meter
        self._principal = principal
        self.name = model.name
        self.context_window = model.context_window
        self.supports_tools = model.supports_tools
        self.supports_schema = model.supports_schema

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the model; errors as of `ChatModel`.

        Raises:
            QuotaExceeded: The caller, or its organisation, may spend no more in this window.
            Unavailable: Close to a quota, the storage cannot be written; or as of `ChatModel`.
        """
        hold, has_ended = await self._meter.begin_cost(self._principal), False
        try:
            async for part in self._model.stream(request):
                if isinstance(part, ModelResponse):
                    has_ended = True
                    await self._meter.end_cost(hold, part.usage.cost or 0.0)
                yield part
        finally:
            if not has_ended:
                self._meter.add_cost(hold, 0.0)


def meter_model(model: ChatModel, meter: QuotaMeter | None, principal: Principal) -> ChatModel:
    """The model for a caller whose costs are counted; of one without an account, itself."""
    if meter is None or not principal.user:
        return model
    return MeteredModel(model, meter, principal)

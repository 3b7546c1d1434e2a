"""What models use beside those of agents: counted in quotas, and summed for records."""

from collections.abc import Callable, Sequence

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.embedder import Embedder, MeteredEmbedder
from pegboard.core.principal import Principal
from pegboard.execution.limits.quotas import QuotaMeter


class ModelCosts:
    """What models use for one question or one document.

    What a request costs is known when it is answered: the one that exceeds a quota still counts.

    Args:
        meter: Counts costs in the quotas of the caller; None where nothing is counted.
        principal: The caller whose quotas they count in.
        report: Called with each use: the name of the model, and what it used.

    Attributes:
        usage: Of all models together.
        model: The last one that was used; empty for none.
    """

    def __init__(
        self,
        meter: QuotaMeter | None,
        principal: Principal,
        *,
        report: Callable[[str, ModelUsage], None] | None = None,
    ) -> None:
        self.usage = ModelUsage()
        self.model = ""
        self._meter = meter
        self._principal = principal
        self._report = report

    async def check(self) -> None:
        """Check that models may be used; call it before each request.

        Raises:
            QuotaExceeded: What the caller, or its organisation, may spend in a window is spent.
            Unavailable: As of `QuotaMeter.begin_cost`.
        """
        if self._meter is not None:
            await self._meter.end_cost(await self._meter.begin_cost(self._principal), 0.0)

    def add(self, model: str, usage: ModelUsage) -> None:
        """Count what a model has used."""
        if not usage.requests:
            return
        self.model = model
        self.usage += usage
        if self._meter is not None and usage.cost:
            self._meter.count_cost(self._principal, usage.cost)
        if self._report is not None:
            self._report(model, usage)

    def wrap_embedder(self, embedder: Embedder | None) -> "CountedEmbedder | None":
        """An embedder whose uses are counted here; None for none."""
        return None if embedder is None else CountedEmbedder(embedder, self)


class CountedEmbedder:
    """An embedder that is checked against quotas before each request, and counted after it.

    Args:
        embedder: Is asked.
        costs: Count it.
    """

    def __init__(self, embedder: Embedder, costs: ModelCosts) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._costs = costs

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector for each text; errors as of `Embedder`.

        Raises:
            QuotaExceeded: As of `ModelCosts.check`.
        """
        await self._costs.check()
        if not isinstance(self._embedder, MeteredEmbedder):
            return await self._embedder.embed(texts)
        found = await self._embedder.embed_metered(texts)
        self._costs.add(self.name, found.usage)
        return [*found.vectors]

"""Cache: an answer that is still fresh is given again; who asks at the same time shares one run."""

from pegboard.core.event import digest_of
from pegboard.core.result import ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def cache(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for tools that say they are cacheable."""
    spec = target.spec
    if not spec.cacheable or spec.cache_ttl <= 0:
        return following
    answers = kit.cache

    async def handle(call: Run) -> ToolResult:
        owner = call.owner if spec.cache_per_principal else ""
        key = (spec.name, spec.version, digest_of(call.raw), owner)
        result, cached = await answers.get_or_make(key, spec.cache_ttl, lambda: following(call))
        call.cached = cached
        return result

    return handle

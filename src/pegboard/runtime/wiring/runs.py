"""Plans and runs of a board: the planner, the runner, and what watches them."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.durability import durability

if TYPE_CHECKING:
    from pegboard.features.plans import Plans
    from pegboard.features.runs import Runs
    from pegboard.runtime.wiring.catalogue import CatalogueParts
    from pegboard.storage import Storage


def plans_and_runs(
    registry: ToolRegistry,
    settings: Settings,
    storage: "Storage",
    stack: AsyncExitStack,
    *,
    parts: "CatalogueParts",
    env: Mapping[str, Any],
) -> "tuple[Plans, Runs]":
    """The two services, sharing one store; the stack stops the runs before it closes anything."""
    from pegboard.features.health.failover import FailoverSelector
    from pegboard.features.plans import Plans
    from pegboard.features.runs import RunFeed, Runs
    from pegboard.graphs import GraphRunner
    from pegboard.planning import Planner

    feed = RunFeed(storage.runs, tell=registry.kit.emitter.emit)
    registry.kit.emitter.add(feed)
    stack.push_async_callback(feed.close)
    kept = durability(settings, storage)
    stack.push_async_callback(kept.close)
    heal = FailoverSelector(registry, parts.health.replacements, policy=lambda: parts.healing)
    known = parts.health.replacements.knows
    runner = GraphRunner(registry, durability=kept, env=env, heal=heal, was_there=known)
    needed = parts.dependencies.prerequisites
    planner = Planner(registry, knowledge=parts.health, prerequisites=needed)
    plans = Plans(
        registry,
        storage.runs,
        planner=planner,
        duration=parts.health.seconds,
        env=env,
        health=lambda name: parts.health.tool(parts.dependencies.node(name)),
        stand_in=parts.health.replacements.best,
        heal=heal,
        was_there=known,
    )
    runs = Runs(registry, storage.runs, runner=runner, plans=plans, feed=feed, follow=kept.follow)
    return plans, runs

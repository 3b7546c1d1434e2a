"""Plans and runs of a board: the planner, the runner, and what watches them."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.storage import place_of

if TYPE_CHECKING:
    from pegboard.durability import StoredDurability
    from pegboard.features.plans import Plans
    from pegboard.features.runs import Runs
    from pegboard.runtime.wiring.catalogue import CatalogueParts
    from pegboard.storage import Storage

_OWNER = "this board"
"""Of every process that has a data directory, or memory, for itself alone."""


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


def durability(settings: Settings, storage: "Storage") -> "StoredDurability":
    """The durable back end of a board: its own storage.

    Processes that share a database have an owner each and take over from one another; one that has
    its directory alone takes up at once what the one before it left.
    """
    from pegboard.durability import StoredDurability

    place = place_of(settings)
    is_shared = place is not None and not isinstance(place, Path)
    owner = "" if is_shared else _OWNER
    return StoredDurability(storage.runs, owner=owner, lease=settings.run_lease)

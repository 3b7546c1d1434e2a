"""Plans, runs and approvals of a board: the planner, the runner, and what watches them."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.core.ports.audit_store import Prove
from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.approvals import watch_approvals
from pegboard.runtime.wiring.storage import storage_location
from pegboard.runtime.wiring.subagents import BoardSubagents
from pegboard.runtime.wiring.workspaces import ConversationFolders

if TYPE_CHECKING:
    from pegboard.core.elicitation import QuestionRules
    from pegboard.core.ports.durability import RunStart
    from pegboard.durability import StoredDurability
    from pegboard.features.approvals import Approvals
    from pegboard.features.identity import Identity
    from pegboard.features.plans import Plans
    from pegboard.features.runs import Runs
    from pegboard.graphs import NodeKind
    from pegboard.graphs.runner import EnvOf
    from pegboard.runtime.wiring.catalogue import CatalogueParts
    from pegboard.storage import Storage

_OWNER = "this board"
"""The owner of all runs where one process has the storage to itself."""


def open_runs(  # noqa: PLR0913 - all that runs are made of
    registry: ToolRegistry,
    settings: Settings,
    storage: "Storage",
    stack: AsyncExitStack,
    *,
    parts: "CatalogueParts",
    env: "EnvOf",
    prove: Prove,
    kinds: "Mapping[str, NodeKind]",
    folders: ConversationFolders,
    subagents: BoardSubagents,
    identity: "Identity",
) -> "tuple[Plans, Runs, Approvals]":
    """The services of plans, runs and approvals; the stack stops the runs before closing anything.

    Args:
        registry: The board's tools.
        settings: The settings.
        storage: Stores plans, runs and approvals.
        stack: Stops what runs in the background.
        parts: What plans and runs know of the tools.
        env: What plans and runs of a principal may read as `$.env`.
        prove: Writes each decision into the audit trail before it is taken.
        kinds: Node kinds by name.
        folders: The workspaces of conversations.
        subagents: Runs agents that are tools.
        identity: Says what the callers of runs may do now.
    """
    from pegboard.features.approvals import Approvals
    from pegboard.features.health.failover import FailoverSelector
    from pegboard.features.plans import Plans
    from pegboard.features.runs import RunFeed, Runs
    from pegboard.features.runs.answers import (
        RunAnswers,
        find_askers,
        find_awaited_approvals,
        find_end_reason,
    )
    from pegboard.features.runs.assignees import find_names
    from pegboard.features.runs.of_accounts import RunsOfAccounts
    from pegboard.graphs import GraphRunner
    from pegboard.planning import Planner

    store = storage.runs
    feed = RunFeed(store, tell=registry.environment.emitter.emit)
    registry.environment.emitter.add(feed)
    stack.push_async_callback(feed.close)
    durability = create_durability(settings, storage, now=registry.environment.now)
    stack.push_async_callback(durability.close)
    subagents.record_in(durability, name_now=identity.callers.name_now)
    heal = FailoverSelector(registry, parts.health.replacements, policy=lambda: parts.healing)
    known = parts.health.replacements.knows
    runner = GraphRunner(
        registry,
        durability=durability,
        kinds=kinds,
        env=env,
        heal=heal,
        was_there=known,
        context=folders.make_context,
        name_now=identity.callers.name_now,
        question_rules=partial(make_question_rules, settings),
    )
    planner = Planner(
        registry, knowledge=parts.health, prerequisites=parts.dependencies.prerequisites
    )
    plans = Plans(
        registry,
        store,
        planner=planner,
        duration=parts.health.seconds,
        env=env,
        health=lambda name: parts.health.tool(parts.dependencies.node(name)),
        stand_in=parts.health.replacements.find_best,
        heal=heal,
        was_there=known,
        kinds=kinds,
    )
    approvals = Approvals(
        registry,
        wake=RunAnswers(registry, store, runner).notify_decision,
        awaited=partial(find_awaited_approvals, store),
        ended=partial(find_end_reason, store),
        prove=prove,
        conversations=storage.conversations,
        askers=partial(find_askers, store),
    )
    runs = Runs(
        registry,
        store,
        runner=runner,
        plans=plans,
        feed=feed,
        follow=durability.follow,
        approvals=approvals,
        names=partial(find_names, storage.identity),
    )
    runs.is_elsewhere = durability.is_elsewhere
    watch_approvals(registry, approvals, stack)
    identity.ended.append(RunsOfAccounts(store, runs).cancel)
    return plans, runs, approvals


def create_durability(
    settings: Settings, storage: "Storage", *, now: Callable[[], float]
) -> "StoredDurability":
    """Create the durable back end of a board over its storage.

    Servers that share a database each have an owner name and take over from one another; a process
    with a directory of its own continues its runs at once.
    """
    from pegboard.durability import StoredDurability
    from pegboard.features.runs.questions import settle_lost_questions

    place = storage_location(settings)
    is_shared = place is not None and not isinstance(place, Path)
    owner = "" if is_shared else _OWNER
    return StoredDurability(
        storage.runs,
        owner=owner,
        lease=settings.run_lease,
        on_takeover=lambda run_id: settle_lost_questions(storage.runs, run_id, at=now()),
    )


def make_question_rules(settings: Settings, start: "RunStart") -> "QuestionRules":
    """Whether the tools of a run may ask a person, and for how long they wait."""
    from pegboard.core.elicitation import QuestionRules
    from pegboard.features.completions import COMPLETION

    if start.graph.get("name") == COMPLETION:
        return QuestionRules(refusal="Nobody can be asked: the client of this API answers nothing.")
    if not settings.question_timeout:
        return QuestionRules(refusal="Questions of tools are turned off (question_timeout is 0).")
    return QuestionRules(timeout=settings.question_timeout)

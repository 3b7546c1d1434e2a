"""Opening a board: its parts are made one after another, each from those before it."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.listener import Listener
from pegboard.execution.emitter import Emitter
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.policy import policy_of
from pegboard.runtime.board_file.sources import check_sources
from pegboard.runtime.board_parts import OpenBoard, list_by_name
from pegboard.runtime.board_tools import board_tools
from pegboard.runtime.current_board import CurrentBoard
from pegboard.runtime.missing_tools import MissingTools
from pegboard.runtime.registrations.static_tools import StaticTools
from pegboard.runtime.settings import Settings
from pegboard.runtime.sources.refresher import SourceRefresher
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor
from pegboard.runtime.unused_rules import (
    refuse_unused_rules,
)
from pegboard.runtime.wiring.accounts.credentials import BoardCredentials, CredentialSources
from pegboard.runtime.wiring.accounts.files import create_blobs, open_files
from pegboard.runtime.wiring.accounts.identity import open_identity
from pegboard.runtime.wiring.accounts.owned_agents import OwnedAgents, OwnedRules
from pegboard.runtime.wiring.accounts.quotas import open_quotas
from pegboard.runtime.wiring.accounts.resources import open_resources
from pegboard.runtime.wiring.accounts.stored_models import StoredModels
from pegboard.runtime.wiring.agents import create_agents, create_node_kinds
from pegboard.runtime.wiring.call_environment import build_call_environment
from pegboard.runtime.wiring.catalogue import CatalogueParts
from pegboard.runtime.wiring.conversations import open_conversations
from pegboard.runtime.wiring.events.listeners import ClosingListener, create_listeners
from pegboard.runtime.wiring.events.metrics import create_metrics
from pegboard.runtime.wiring.kill_switches import open_kill_switches
from pegboard.runtime.wiring.knowledge import BoardKnowledge
from pegboard.runtime.wiring.models import BoardModels
from pegboard.runtime.wiring.pins import PinParts
from pegboard.runtime.wiring.registry import open_registry
from pegboard.runtime.wiring.retention import start_retention
from pegboard.runtime.wiring.runs import open_runs
from pegboard.runtime.wiring.services import (
    guard_addresses,
    open_services,
    read_pictures_with,
)
from pegboard.runtime.wiring.storage import audit_listeners, create_storage, require_audit
from pegboard.runtime.wiring.subagents import BoardSubagents
from pegboard.runtime.wiring.tool_meanings import BoardToolMeanings
from pegboard.runtime.wiring.workspaces import ConversationFolders


async def open_board(
    loaded: LoadedBoard,
    settings: Settings,
    *,
    tools: Sequence[Any],
    listeners: Sequence[Listener],
    metrics: bool,
    brief: bool,
    model: ChatModel | None = None,
) -> OpenBoard:
    """Open storage, listeners, network and sources; all are closed again if one of them fails.

    Raises:
        ConfigError: The board or a setting is wrong.
    """
    states, policy = check_sources(loaded), policy_of(loaded)
    current = CurrentBoard(loaded, settings, states)
    async with AsyncExitStack() as stack:
        # stores
        storage = await stack.enter_async_context(create_storage(settings, redact=current.masking))
        prove = require_audit(settings, storage)
        # environment
        listed: dict[str, SourceState] = {}
        missing = MissingTools(listed)
        closing = _open_listeners(settings, current, stack)
        emitter = Emitter(
            [storage.listener, *audit_listeners(settings, storage, brief=brief), *closing],
            guests=listeners,
        )
        stack.callback(emitter.close)
        in_flight: dict[str, int] | None = {} if metrics else None
        counters = None
        if in_flight is not None:
            counters = create_metrics(storage, closing, emitter, in_flight, states=listed)
            emitter.add(counters)
        credentials = BoardCredentials(
            settings,
            storage,
            CredentialSources(listed, lambda: resources.connectors, lambda: identity),
            environment=lambda: registry.environment,
            http=lambda: services.http,
            approvals=lambda: approvals,
            stack=stack,
            prove=prove,
        )
        kit = replace(
            build_call_environment(
                policy,
                settings,
                storage,
                emitter,
                current.masking,
                missing,
                in_flight=in_flight,
                credentials=credentials.resolver,
            ),
            quotas=await open_quotas(storage, settings, stack, current),
        )
        # registry
        registry = await open_registry(kit, storage)
        switches = await open_kill_switches(registry, storage, settings, stack, prove=prove)
        # sources
        services, sandbox = open_services(
            loaded,
            settings,
            stack,
            agents=(subagents := BoardSubagents(registry)),
            credentials=credentials.resolver,
            knowledge=(
                knowledge := BoardKnowledge(
                    registry,
                    storage,
                    lambda: current.loaded.board,
                    blobs := create_blobs(settings),
                    stack,
                    web=settings.knowledge_web,
                    is_shared=settings.database is not None,
                )
            ),
        )
        pins = PinParts(
            registry, storage, pinning=lambda: current.loaded.board.pinning, prove=prove
        )
        refresher = SourceRefresher(
            services, timeout=settings.list_timeout, listed=pins.publisher, emitter=emitter
        )
        sources = SourceSupervisor(
            refresher,
            states=listed,
            patience=settings.open_patience,
            on_demand=settings.open_on_demand,
        )
        static = StaticTools(
            registry,
            services,
            within=settings.list_timeout,
            stack=await stack.enter_async_context(AsyncExitStack()),
        )
        await _add_tools(registry, static, tools, loaded=loaded, states=list_by_name(states))
        stack.push_async_callback(sources.close)
        # services
        parts = CatalogueParts(
            registry,
            storage,
            static.handler_context(listed),
            loaded=lambda: current.loaded,
            owner_of_name=missing.owner,
            is_shared=settings.database is not None,
            prove=prove,
        )
        await sources.open(states)
        resources = await open_resources(
            registry,
            storage,
            guard_addresses(services, loaded.board.network),
            settings,
            stack,
            board_names=listed.keys,
            others=OwnedRules(lambda: current.loaded, lambda: models.choices),
            prove=prove,
        )
        pins.follow(stack, connectors=resources.pinned, is_shared=settings.database is not None)
        stack.push_async_callback(parts.close)
        await parts.open()
        # runs
        agents = create_agents(registry, lambda: current.loaded.board.agents, OwnedAgents(registry))
        read_pictures_with(
            services,
            (
                models := BoardModels(
                    settings,
                    environ=services.environ,
                    board=lambda: current.loaded.board,
                    stack=stack,
                    own=model,
                    stored=StoredModels(
                        registry, credentials.resolver, lambda: current.loaded.board
                    ),
                )
            ).find_picture_reader,
        )
        plans, runs, approvals = open_runs(
            registry,
            settings,
            storage,
            stack,
            folders=(folders := ConversationFolders(services.workspaces or Path())),
            identity=(
                identity := await open_identity(registry, storage, settings, stack, prove=prove)
            ),
            parts=parts,
            env=current.env_of,
            prove=prove,
            subagents=subagents,
            kinds=knowledge.add_node_kinds(
                create_node_kinds(
                    registry,
                    storage,
                    models,
                    agents,
                    settings=settings,
                    board=lambda: current.loaded.board,
                    subagents=subagents,
                    failed_sources=missing.list_failed,
                )
            ),
        )
        start_retention(
            settings,
            storage,
            kit,
            stack,
            folders=folders,
            files=(
                files := open_files(
                    registry,
                    storage,
                    settings,
                    stack,
                    contents=blobs,
                    loaded=lambda: current.loaded,
                    prove=prove,
                )
            ),
        )
        opened = OpenBoard(
            current=current,
            knowledge=knowledge.attach(services, models, resources.service, runs, files),
            meanings=BoardToolMeanings(
                registry,
                settings,
                models=models,
                board=lambda: current.loaded.board,
                store=storage.tool_vectors,
            ).open(stack),
            storage=storage,
            resources=resources,
            metrics=counters,
            registry=registry,
            switches=switches,
            identity=identity,
            credentials=credentials.service,
            sandbox=sandbox,
            pins=pins,
            sources=sources,
            static=static,
            parts=parts,
            plans=plans,
            runs=runs,
            approvals=approvals,
            agents=agents,
            files=files,
            conversations=await open_conversations(
                registry,
                storage,
                runs,
                agents,
                stack,
                models=models.choices,
                files=folders,
                citer=knowledge,
                uploads=files,
                is_shared=settings.database is not None,
            ),
            models=models,
            prove=prove,
            stack=AsyncExitStack(),
        )
        refuse_unused_rules(opened.find_unused_rules(), loaded)
        opened.stack = stack.pop_all()
        return opened


def _open_listeners(
    settings: Settings, current: CurrentBoard, stack: AsyncExitStack
) -> list[ClosingListener]:
    opened: list[ClosingListener] = []
    for listener in create_listeners(settings, current.masking):
        opened.append(listener)
        stack.push_async_callback(asyncio.to_thread, listener.close)
    return opened


async def _add_tools(
    registry: ToolRegistry,
    static: StaticTools,
    own: Sequence[Any],
    *,
    loaded: LoadedBoard,
    states: Mapping[str, SourceState],
) -> None:
    """Add the board's own tools, those of the program, and those of the `tools:` list."""
    listed = await static.build(loaded, states)
    for item in (*board_tools(registry), *own):
        registry.add(item)
    static.check(listed, loaded, states)
    static.replace(listed)

"""The node kinds of a board's graphs, and what its agents work with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.core.principal import Principal
from pegboard.core.wire_names import is_glob
from pegboard.errors import ConversationNotFound
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.agents import AgentEntry
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.accounts.quotas import meter_model
from pegboard.runtime.wiring.models import BoardModels
from pegboard.runtime.wiring.subagents import BoardSubagents

if TYPE_CHECKING:
    from pegboard.assembly import ToolModes
    from pegboard.engines import AgentConfig, AgentSetup
    from pegboard.features.agents import AgentProfile, Agents
    from pegboard.graphs import NodeKind
    from pegboard.storage import Storage

Part = TypeVar("Part")


def create_agents(
    registry: ToolRegistry,
    entries: Callable[[], Sequence[AgentEntry]],
    owned: Callable[[Principal], Sequence[AgentEntry]],
) -> "Agents":
    """The service of agents.

    Args:
        registry: The board's tools.
        entries: The agents of the board file in force.
        owned: Those that people have added and that a caller may see.
    """
    from pegboard.features.agents import Agents

    def list_profiles(principal: Principal) -> "list[AgentProfile]":
        board = {entry.name: entry for entry in entries()}
        own = [entry for entry in owned(principal) if entry.name not in board]
        return [_to_profile(entry) for entry in (*board.values(), *own)]

    return Agents(registry, list_profiles)


def create_node_kinds(
    registry: ToolRegistry,
    storage: "Storage",
    models: BoardModels,
    agents: "Agents",
    *,
    settings: Settings,
    board: Callable[[], Board],
    subagents: BoardSubagents,
    failed_sources: Callable[[], Mapping[str, str]],
) -> "Mapping[str, NodeKind]":
    """The one table of node kinds, for the runner, the checker and the planner.

    Args:
        registry: The board's tools.
        storage: Stores the conversations that agents go on with.
        models: The board's language models.
        agents: The agents of the board.
        settings: How many tools a model is shown.
        board: The board file in force.
        subagents: Runs agents that are tools.
        failed_sources: Why sources have no tools, by name; operators are told.
    """
    from pegboard.assembly import ModelToolList, SelectionLimits, ToolSelector, resolve_tools
    from pegboard.core.model_messages import ModelSettings
    from pegboard.engines import AgentNode, AgentSetup, ContextState, GoalNode
    from pegboard.engines.agent import INSTRUCTIONS
    from pegboard.engines.shared_goal import accept_all
    from pegboard.features.conversations import ConversationHistory, read_history
    from pegboard.graphs import KINDS

    async def prepare(config: "AgentConfig", principal: Principal) -> "AgentSetup":
        await _check_conversation(storage, config.conversation, principal)
        history = (
            await read_history(storage.conversations, config.conversation, config.message)
            if config.conversation
            else ConversationHistory()
        )
        profile, selection = await agents.require(config.agent, principal=principal)
        request = agents.make_request(
            profile, principal=principal, modes=_read_modes(settings), selection=selection
        )
        if request.tools is None and principal.is_operator:
            failed = {name: why for name, why in failed_sources().items() if request.binds(name)}
            request = replace(request, missing={**failed, **request.missing})
        is_foreign = _is_foreign(registry, profile.name, principal)
        if is_foreign:  # a stranger chooses none of the caller's accounts
            request = replace(request, accounts={})
        toolset = resolve_tools(registry, request)
        # any graph may name one
        chosen = models.choices.resolve_name(config.model, principal=principal)
        meter = registry.environment.quotas
        named = chosen or profile.model
        account = config.account or ("" if is_foreign else profile.accounts.get(named, ""))
        model = await models.get_for(named, principal=principal, account=account)
        model = meter_model(model, meter, principal)
        fast = await models.find_fast()
        last = await _read_last_output(storage, history.run_id)
        state = _read_part(last, "context", ContextState)
        return AgentSetup(
            model=model,
            toolset=toolset,
            selector=ToolSelector(
                toolset,
                principal=principal,
                limits=SelectionLimits(
                    list_all=settings.max_listed_tools,
                    select=settings.selected_tools,
                    always_listed=(*board().always_listed, *_list_named(profile)),
                    window=model.context_window,
                ),
                basis=f"{config.agent} {state.omitted if state else 0}",
                kept=None if config.is_step else _read_part(last, "tools", ModelToolList),
                goes_on=bool(config.conversation),
            ),
            instructions=profile.instructions or INSTRUCTIONS,
            history=history.messages,
            replaced_calls=history.replaced_calls,
            context_state=state,
            limits=profile.limits,
            concurrent_tool_calls=profile.concurrent_tool_calls,
            completion_check=profile.completion_check,
            settings=ModelSettings(temperature=profile.temperature),
            engine=profile.engine,
            foreign_author=is_foreign or models.is_foreign(named, principal=principal),
            fast_model=None if fast is None else meter_model(fast, meter, principal),
            accept=partial(storage.conversations.steer, config.conversation)
            if config.conversation
            else accept_all,
            rerank_timeout=_find_rerank_timeout(settings, board()),
        )

    subagents.use(models)
    agent = AgentNode(prepare)
    return MappingProxyType({**KINDS, "agent": agent, "goal": GoalNode(prepare, agent)})


async def _check_conversation(storage: "Storage", conversation: str, principal: Principal) -> None:
    """Refuse a conversation of another caller: any graph may name one.

    Raises:
        ConversationNotFound: The caller has no such conversation.
    """
    from pegboard.features.permissions import may_see_conversation

    known = await storage.conversations.get(conversation) if conversation else None
    if conversation and (known is None or not may_see_conversation(principal, known)):
        raise ConversationNotFound(f"There is no conversation '{conversation[:100]}'.")


async def _read_last_output(storage: "Storage", run_id: str) -> Any:
    """The output of the agent that answered last; None when the run is not kept."""
    run = await storage.runs.get(run_id) if run_id else None
    return run.result.nodes[0].output if run and run.result and run.result.nodes else None


def _read_part(output: Any, name: str, type_: type[Part]) -> Part | None:
    """What the next answer goes on with; None when there is none."""
    from msgspec import ValidationError, convert

    try:
        return convert(output[name], type_)
    except (ValidationError, KeyError, TypeError):  # of another engine, or an older version
        return None


def _find_rerank_timeout(settings: Settings, board: Board) -> float | None:
    """Seconds in which the fast model may re-order tools; None where it does not."""
    wanted = settings.rerank_tools
    is_wanted = board.rerank_tools if wanted is None else wanted
    return settings.rerank_timeout if is_wanted else None


def _read_modes(settings: Settings) -> "ToolModes":
    from pegboard.assembly import ToolModes

    return ToolModes(
        connector=settings.connector_tool_mode,
        database=settings.database_tool_mode,
        mcp=settings.mcp_tool_mode,
        skill=settings.skill_tool_mode,
    )


def _is_foreign(registry: ToolRegistry, agent: str, principal: Principal) -> bool:
    """Whether another person wrote the instructions of an agent, and no operator answers for it."""
    row = registry.environment.resource_index.find(agent, "agent")
    if row is None or not principal.user:
        return False
    return row.owner != principal.user and row.visibility != "global"


def _list_named(profile: "AgentProfile") -> tuple[str, ...]:
    """The tools that an agent is always shown; those that its list names are among them."""
    named = [name for name in profile.tools or () if not is_glob(name)]
    return (*profile.always_listed, *named)


def _to_profile(entry: AgentEntry) -> "AgentProfile":
    from pegboard.engines import AgentLimits
    from pegboard.features.agents import AgentProfile

    fields = entry.model_dump(exclude={"limits", "tool_modes"})
    return AgentProfile(
        **fields,
        tool_modes=entry.tool_modes.model_dump(exclude_none=True),
        limits=AgentLimits(**entry.limits.model_dump()),
    )

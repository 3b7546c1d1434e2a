"""The conversations of a board."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.core.ports.conversation_files import ConversationFiles
from pegboard.core.ports.knowledge.bases import AnswerCiter
from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from pegboard.features.agents import Agents, ModelChoices
    from pegboard.features.conversations import Conversations
    from pegboard.features.files import Files
    from pegboard.features.runs import Runs
    from pegboard.storage import Storage

_LOOK_SECONDS = 15.0


async def open_conversations(  # noqa: PLR0913 - all that conversations are made of
    registry: ToolRegistry,
    storage: "Storage",
    runs: "Runs",
    agents: "Agents",
    stack: AsyncExitStack,
    *,
    models: "ModelChoices",
    files: ConversationFiles,
    citer: AnswerCiter,
    uploads: "Files",
    is_shared: bool,
) -> "Conversations":
    """The service of conversations; what an earlier process left is continued.

    Args:
        registry: Its call environment emits events and gives the time.
        storage: Stores conversations and runs.
        runs: Starts and shows the runs that answer.
        agents: The agents that can be chosen.
        stack: Stops what runs in the background.
        models: The models that can be chosen.
        files: The workspaces of conversations.
        citer: Checks what answers cite.
        uploads: The stored files that messages may name.
        is_shared: Whether other servers use the same database.
    """
    from pegboard.features.conversations import ConversationAnswers, Conversations

    environment = registry.environment
    answers = ConversationAnswers(
        storage.conversations,
        runs=runs,
        run_store=storage.runs,
        now=environment.now,
        citer=citer,
        every=_LOOK_SECONDS if is_shared else None,
    )
    conversations = Conversations(
        storage.conversations,
        runs=runs,
        answers=answers,
        now=environment.now,
        resolve_agent=agents.resolve_name,
        resolve_model=models.resolve_name,
        files=files,
        uploads=uploads,
    )
    environment.emitter.add(answers)
    stack.push_async_callback(answers.close)
    stack.push_async_callback(conversations.close)
    return conversations

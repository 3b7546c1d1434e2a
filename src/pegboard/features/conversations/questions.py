"""Answers to what tools ask while a message is answered."""

from collections.abc import Mapping
from typing import Any

from pegboard.core.ports.conversation_store import ConversationStore
from pegboard.core.principal import Principal
from pegboard.errors import ConversationNotFound, RunNotFound
from pegboard.features.key_limits import limit_keys
from pegboard.features.permissions import may_see_conversation
from pegboard.features.runs.questions import QuestionAction, RunQuestions


@limit_keys("conversations", reads=())
class ConversationQuestions:
    """Answers questions of tools in conversations that are the caller's.

    Args:
        store: Stores conversations.
        questions: Those of the runs that answer.
    """

    def __init__(self, store: ConversationStore, questions: RunQuestions) -> None:
        self._store = store
        self._questions = questions

    async def answer(
        self,
        conversation: str,
        question: str,
        action: QuestionAction,
        content: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
    ) -> str:
        """Answer a question of a tool; the state of the question after that.

        Args:
            conversation: The conversation in which it is asked.
            question: The id of the question.
            action: `accept` with the content, or `decline`, or `cancel` to dismiss it.
            content: What the form asks for; nothing for a page.
            principal: The caller.

        Raises:
            ConversationNotFound: The conversation or the question does not exist, or the caller
                may not see it.
            AlreadyAnswered: Another answer came first, or its call has ended.
            InvalidRequest: The content does not fit the form.
        """
        known = await self._store.get(conversation)
        if known is None or not may_see_conversation(principal, known):
            raise ConversationNotFound(f"There is no conversation '{conversation[:100]}'.")
        working = await self._store.next_exchange(conversation, states={"working"})
        missing = f"The conversation has no open question '{question[:100]}'."
        if working is None:
            raise ConversationNotFound(missing)
        try:
            return await self._questions.answer(
                working.run_id, question, action, content, principal=principal
            )
        except RunNotFound as error:
            raise ConversationNotFound(missing) from error

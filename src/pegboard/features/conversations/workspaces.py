"""The files of conversations, for those whose conversations they are."""

from pegboard.core.ports.conversation_files import (
    ConversationFileContent,
    ConversationFileList,
    ConversationFiles,
)
from pegboard.core.ports.conversation_store import ConversationStore
from pegboard.core.principal import Principal
from pegboard.errors import ConversationNotFound
from pegboard.features.key_limits import limit_keys
from pegboard.features.permissions import may_see_conversation

MAX_LISTED_FILES = 1_000


@limit_keys("conversations", reads=("list", "open"))
class Workspaces:
    """Lists and reads the files that messages brought and tools wrote.

    Args:
        store: Stores conversations.
        files: The workspaces; None where there are none.
    """

    def __init__(self, store: ConversationStore, files: ConversationFiles | None) -> None:
        self._store = store
        self._files = files

    async def list(self, conversation: str, *, principal: Principal) -> ConversationFileList:
        """The files of a conversation, of many the first `MAX_LISTED_FILES`.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        await self._check(conversation, principal)
        if self._files is None:
            return ConversationFileList()
        return await self._files.list(conversation, principal, limit=MAX_LISTED_FILES)

    async def open(
        self, conversation: str, path: str, *, principal: Principal
    ) -> ConversationFileContent:
        """A file of a conversation.

        Raises:
            ConversationNotFound: The conversation or the file does not exist, or the caller may
                not see it.
        """
        await self._check(conversation, principal)
        found = (
            None if self._files is None else await self._files.open(conversation, principal, path)
        )
        if found is None:
            raise ConversationNotFound(f"The conversation has no file '{path[:100]}'.")
        return found

    async def _check(self, conversation: str, principal: Principal) -> None:
        known = await self._store.get(conversation)
        if known is None or not may_see_conversation(principal, known):
            raise ConversationNotFound(f"There is no conversation '{conversation[:100]}'.")

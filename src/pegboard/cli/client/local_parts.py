"""A board of this process as commands have it: the board, the caller, and clients of its nouns."""

from typing import TYPE_CHECKING, cast

from pegboard.cli.client.conversations import LocalConversations
from pegboard.cli.client.credentials import LocalCredentials
from pegboard.cli.client.files import LocalFiles
from pegboard.cli.client.knowledge import LocalKnowledge
from pegboard.cli.client.people import LocalPeople
from pegboard.cli.client.pins import LocalPins
from pegboard.cli.client.resources import LocalResources
from pegboard.core.principal import LOCAL
from pegboard.errors import AccessDenied

if TYPE_CHECKING:
    from pegboard.core.ports.call_stores import History
    from pegboard.core.principal import Principal
    from pegboard.runtime import Pegboard
    from pegboard.runtime.wiring.offline import OfflineBoard

NEEDS_KEY = "it has accounts: set PEGBOARD_TOKEN to the key of one"


class LocalParts:
    """A board of this process, its caller, and clients of its nouns.

    Args:
        board: The open board, or its stored data for commands that need no tools; None for
            the history alone.
        history: The history; None for that of the board.
        principal: The caller; None where the board has accounts and no valid key was given, with
            which only links for people can be made.
    """

    def __init__(
        self,
        board: "Pegboard | OfflineBoard | None",
        *,
        history: "History | None" = None,
        principal: "Principal | None" = LOCAL,
    ) -> None:
        self._opened = board
        self._own_history = history
        self._principal = principal

    @property
    def _caller(self) -> "Principal":
        if self._principal is None:
            raise AccessDenied("the board", NEEDS_KEY)
        return self._principal

    @property
    def is_logged(self) -> bool:
        """Whether the log says more about a source than its reason."""
        return any(state.is_logged for state in self._board.sources)

    @property
    def _board(self) -> "Pegboard":
        return cast("Pegboard", self._opened)  # commands that need tools open them

    @property
    def _stored(self) -> "Pegboard | OfflineBoard":
        return cast("Pegboard | OfflineBoard", self._opened)

    @property
    def _history(self) -> "History":
        return self._own_history or self._board.history

    @property
    def people(self) -> LocalPeople:
        """The accounts of the board."""
        return LocalPeople(self._stored.identity, self._principal or LOCAL)

    @property
    def pins(self) -> LocalPins:
        """The approved and held definitions of upstream tools."""
        return LocalPins(self._stored.pins, self._caller)

    @property
    def conversations(self) -> LocalConversations:
        """The conversations of the caller."""
        return LocalConversations(self._board.conversations, self._caller)

    @property
    def resources(self) -> LocalResources:
        """The connectors and agents that the caller sees."""
        return LocalResources(self._board.resources, self._caller)

    @property
    def files(self) -> LocalFiles:
        """The files of the caller."""
        return LocalFiles(self._board.files, self._caller)

    @property
    def knowledge(self) -> LocalKnowledge:
        """The knowledge bases of this board."""
        return LocalKnowledge(self._board.knowledge, self._caller)

    @property
    def credentials(self) -> LocalCredentials:
        """The credentials of the caller."""
        return LocalCredentials(self._board.credentials, self._caller)

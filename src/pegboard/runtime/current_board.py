"""The board file in force, and what is derived from it and kept up with reloads."""

from collections.abc import Iterable, Mapping

from pegboard.core.principal import Principal
from pegboard.runtime.board_file.load import LoadedBoard, check_env
from pegboard.runtime.board_file.model_names import check_models
from pegboard.runtime.board_file.models import EnvValue
from pegboard.runtime.secret_mask import SecretMask
from pegboard.runtime.secret_values import secret_values
from pegboard.runtime.settings import Settings
from pegboard.runtime.sources.state import SourceState


class CurrentBoard:
    """The board file in force; a reload replaces it.

    Parts of an open board that depend on the file read it from here when they need it.

    Args:
        loaded: The board file as read.
        settings: The settings; their secrets are masked too.
        states: The sources of the file.

    Raises:
        ConfigError: What the file says of models or `env` is wrong.

    Attributes:
        loaded: The board file in force.
        masking: Masks the secrets of this board file and of those before it.
    """

    def __init__(
        self, loaded: LoadedBoard, settings: Settings, states: Iterable[SourceState]
    ) -> None:
        check_models(loaded)
        self._settings = settings
        self.loaded = loaded
        check_env(loaded)
        self.masking = SecretMask(self._secrets(loaded, states))

    def env_of(self, principal: Principal) -> Mapping[str, EnvValue]:
        """What graphs of a principal read as `$.env`: the board's, and the organisation's."""
        board = self.loaded.board
        own = board.organisations.get(principal.tenant)
        return board.env if own is None else {**board.env, **own.env}

    def replace(self, loaded: LoadedBoard, states: Iterable[SourceState]) -> None:
        """Put another board file in force.

        Args:
            loaded: The board file as read; its `env` is checked.
            states: Its sources.
        """
        self.masking.use(self._secrets(loaded, states))
        self.loaded = loaded

    def _secrets(self, loaded: LoadedBoard, states: Iterable[SourceState]) -> tuple[str, ...]:
        configs = [state.opener.config for state in states if state.opener is not None]
        return (*loaded.secrets, *secret_values([self._settings, loaded.board, *configs]))

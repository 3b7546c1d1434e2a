"""The `env:` section of a board: what graphs may read as `$.env`."""

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import EnvValue
from pegboard.runtime.secret_values import is_secretive, secret_values


def graph_env(loaded: LoadedBoard) -> dict[str, EnvValue]:
    """The values of the section.

    A run keeps them with what it began with, and shows what it did with them, so that no secret
    may be among them.

    Raises:
        ConfigError: One is a secret, or its name says so.
    """
    for name, value in loaded.board.env.items():
        text = str(value)
        is_secret = any(secret in text for secret in loaded.secrets) or secret_values([text])
        if is_secretive(name) or is_secret:
            raise ConfigError(
                f"{loaded.where(('env', name))}: 'env.{name}' looks like a secret, and runs show "
                "what they read: give the secret to the source that needs it"
            )
    return dict(loaded.board.env)

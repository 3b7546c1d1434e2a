"""The `server` extra: named when it is missing."""

from importlib import import_module

from pegboard.errors import ConfigError

_NEEDED = ("fastapi", "uvicorn", "websockets", "prometheus_client")


def require_server_extra() -> None:
    """Check that everything the HTTP door needs is installed.

    Raises:
        ConfigError: Something is missing; says what to install.
    """
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            raise ConfigError(
                f"The HTTP server needs {name}: pip install 'pegboard[server]'"
            ) from error

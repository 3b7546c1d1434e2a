"""`create_app`: the door as an ASGI application."""

from typing import TYPE_CHECKING

from pegboard.runtime import Pegboard
from pegboard.servers.extras import require_server_extra

if TYPE_CHECKING:
    from fastapi import FastAPI


def create_app(board: Pegboard) -> "FastAPI":
    """The HTTP face of a board.

    ```python
    app = create_app(Pegboard("board.yaml", metrics=True))  # uvicorn module:app
    ```

    Args:
        board: Open already, or opened and closed by the application's lifespan.

    Raises:
        ConfigError: The `server` extra is missing, or the token is empty.
    """
    require_server_extra()
    from pegboard.servers.http.app_factory import assembled

    return assembled(board)

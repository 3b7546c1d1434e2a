"""FastAPI dependencies: the open board, and the caller."""

from typing import Annotated

from fastapi import Depends, Request

from pegboard.core.principal import Principal
from pegboard.errors import Unavailable
from pegboard.runtime import Pegboard


async def _open_board(request: Request) -> Pegboard:
    board: Pegboard = request.app.state.board
    if not board.is_open:
        raise Unavailable("The board is not open.", retry_after=1.0)
    return board


async def _caller(request: Request) -> Principal:
    principal: Principal = request.state.principal
    return principal


Board = Annotated[Pegboard, Depends(_open_board)]
"""The board; a 503 while it is not open."""

Caller = Annotated[Principal, Depends(_caller)]
"""The authenticated caller."""

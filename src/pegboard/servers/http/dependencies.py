"""FastAPI dependencies: the open board, the caller, and the end of the server."""

import asyncio
from typing import Annotated

from fastapi import Depends, Request

from pegboard.core.principal import Principal
from pegboard.errors import Unavailable
from pegboard.runtime import Pegboard


def get_board(request: Request) -> Pegboard:
    """The board of a request.

    Raises:
        Unavailable: It is not open.
    """
    board: Pegboard = request.app.state.board
    if not board.is_open:
        raise Unavailable("The board is not open.", retry_after=1.0)
    return board


def get_caller(request: Request) -> Principal:
    """The authenticated caller of a request."""
    principal: Principal = request.state.principal
    return principal


async def _board(request: Request) -> Pegboard:
    return get_board(request)


async def _caller(request: Request) -> Principal:
    return get_caller(request)


async def _visitor(request: Request) -> Principal | None:
    principal: Principal | None = request.state.principal
    return principal


async def _ending(request: Request) -> asyncio.Event:
    ending: asyncio.Event = request.app.state.ending
    return ending


Board = Annotated[Pegboard, Depends(_board)]
"""The board; a 503 while it is not open."""

Caller = Annotated[Principal, Depends(_caller)]
"""The authenticated caller."""

Visitor = Annotated[Principal | None, Depends(_visitor)]
"""The caller of a page that is open to everybody; None for one who has not signed in."""

Ending = Annotated[asyncio.Event, Depends(_ending)]
"""Set when the server begins to end."""

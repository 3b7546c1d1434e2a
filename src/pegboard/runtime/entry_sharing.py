"""What several entries name is opened once: thousands may name one function, or one script."""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import ValidationError

from pegboard.core.tool import Tool
from pegboard.errors import PegboardError


class SharedOpenings:
    """What was opened for the entries of one request; those of the next see the world anew.

    ```python
    shared = SharedOpenings()
    tool = await shared.get("shop.tools:price", opening)  # whoever else asks gets the same one
    ```
    """

    def __init__(self) -> None:
        self._opened: dict[str, asyncio.Future[Tool]] = {}

    async def get(self, key: str, opened: Callable[[], Awaitable[Tool]]) -> Tool:
        """What was opened under this key, or is being opened; else it is opened now.

        Raises:
            PegboardError: It cannot be opened.
            ValidationError: What runs it is not said rightly.
        """
        known = self._opened.get(key)
        if known is not None:
            return await asyncio.shield(known)
        begun = self._opened[key] = asyncio.get_running_loop().create_future()
        try:
            tool = await opened()
        except (PegboardError, ValidationError) as error:
            begun.set_exception(error)
            begun.exception()  # heard, also where nobody else has asked
            raise
        except asyncio.CancelledError:  # who waits has a deadline too; who comes later tries again
            del self._opened[key]
            raise
        begun.set_result(tool)
        return tool

"""Opens a handler once for all entries of a request that name it."""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import ValidationError

from pegboard.core.tool import Tool
from pegboard.errors import PegboardError


class SharedHandlers:
    """The handlers opened for the entries of one request; the next request opens them again.

    ```python
    shared = SharedHandlers()
    tool = await shared.get("shop.tools:price", opening)  # whoever else asks gets the same one
    ```
    """

    def __init__(self) -> None:
        self._opened: dict[str, asyncio.Future[Tool | None]] = {}

    async def get(self, key: str, opened: Callable[[], Awaitable[Tool]]) -> Tool:
        """The handler of this key; opened now if it is neither open nor being opened.

        Raises:
            PegboardError: It cannot be opened.
            ValidationError: The handler is not described correctly.
        """
        while (known := self._opened.get(key)) is not None:
            tool = await asyncio.shield(known)
            if tool is not None:
                return tool
        begun = self._opened[key] = asyncio.get_running_loop().create_future()
        try:
            tool = await opened()
        except (PegboardError, ValidationError) as error:
            begun.set_exception(error)
            begun.exception()  # heard, also where nobody else has asked
            raise
        except BaseException:  # it says nothing of what is opened: who waits tries again
            del self._opened[key]
            begun.set_result(None)
            raise
        begun.set_result(tool)
        return tool

"""What several entries name is opened once: thousands may name one function, or one script."""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import ValidationError

from pegboard.core.tool import Tool
from pegboard.errors import PegboardError


class SharedHandlers:
    """What was opened for the entries of one request; those of the next see the world anew.

    ```python
    shared = SharedOpenings()
    tool = await shared.get("shop.tools:price", opening)  # whoever else asks gets the same one
    ```
    """

    def __init__(self) -> None:
        self._opened: dict[str, asyncio.Future[Tool | None]] = {}

    async def get(self, key: str, opened: Callable[[], Awaitable[Tool]]) -> Tool:
        """What was opened under this key, or is being opened; else it is opened now.

        Raises:
            PegboardError: It cannot be opened.
            ValidationError: What runs it is not said rightly.
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

"""The port of address checks, for clients of other protocols than HTTP."""

from typing import Protocol


class AddressGuard(Protocol):
    """Resolves hosts for clients that connect by themselves, such as database drivers."""

    def resolve(self, host: str, port: int) -> str:
        """One address of a host, to which the client must connect; it blocks its thread.

        Raises:
            InvalidRequest: The policy of the board refuses one of the addresses.
            OSError: The name has no address.
        """
        ...

"""Which module reads which format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.features.marketplace.entries import Market, MarketKind, Page
from pegboard.features.marketplace.formats import mcp_registry, openapi_directory, pegboard


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How a kind of catalogue is read.

    Attributes:
        first: Where reading begins.
        read: What one answer says; raises `Unfit` where it is none of this format.
        of_one: Where reading begins for one entry; None where all are read for it.
        is_followed: Whether a redirect may be followed: never with a token.
    """

    first: Callable[[Market], str]
    read: Callable[[Any, Market, str], Page]
    of_one: Callable[[Market, str], str] | None = None
    is_followed: bool = True


FORMATS: Mapping[MarketKind, Format] = {
    "mcp_registry": Format(
        first=mcp_registry.first_page,
        read=mcp_registry.read_page,
        of_one=mcp_registry.page_of_one,
    ),
    "openapi_directory": Format(
        first=openapi_directory.first_page, read=openapi_directory.read_page
    ),
    "pegboard": Format(first=pegboard.first_page, read=pegboard.read_page, is_followed=False),
}

"""The `marketplaces:` section of a board file."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from pegboard.core.wire_names import is_source_name

_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _name(name: str) -> str:
    if not is_source_name(name):
        raise ValueError("write at most 30 letters, digits, single '_' and '-'")
    return name


def _base(url: str) -> str:
    parts = urlsplit(url)
    is_plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in {"http", "https"} or not parts.hostname or not is_plain:
        raise ValueError("write it as https://host:port, without credentials or a query")
    return url.rstrip("/")


def _document(place: str) -> str:
    scheme = place.partition("://")[0] if "://" in place else ""
    if scheme and scheme.lower() not in {"http", "https"}:
        raise ValueError("write an http(s) address, or a file from the board's folder")
    if scheme and "@" in urlsplit(place).netloc:
        raise ValueError("leave the user name and password out")
    return place


_Name = Annotated[
    str,
    AfterValidator(_name),
    Field(description="Its name on this board; the names of its tools begin with it."),
]
_Document = Annotated[
    str,
    AfterValidator(_document),
    Field(min_length=1, description="A file relative to the board, or an http(s) address."),
]


class McpRegistryEntry(BaseModel):
    """A list of MCP servers, or one `server.json`."""

    model_config = _STRICT

    kind: Literal["mcp_registry"]
    name: _Name
    document: _Document


class OpenApiDirectoryEntry(BaseModel):
    """A list of REST APIs, as the `list.json` of APIs.guru."""

    model_config = _STRICT

    kind: Literal["openapi_directory"]
    name: _Name
    document: _Document


class PegboardEntry(BaseModel):
    """Another Pegboard."""

    model_config = _STRICT

    kind: Literal["pegboard"]
    name: _Name
    url: Annotated[
        str, AfterValidator(_base), Field(description="Address of its server, `https://host:port`.")
    ]
    token: Annotated[
        SecretStr | None,
        Field(description='The token this board authenticates with: "${HQ_TOKEN}".'),
    ] = None


MarketplaceEntry = Annotated[
    McpRegistryEntry | OpenApiDirectoryEntry | PegboardEntry, Field(discriminator="kind")
]


def _apart(entries: tuple[MarketplaceEntry, ...]) -> tuple[MarketplaceEntry, ...]:
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the name '{twice[0]}' is used twice; give one of them another 'name'")
    return entries


Marketplaces = Annotated[tuple[MarketplaceEntry, ...], AfterValidator(_apart)]

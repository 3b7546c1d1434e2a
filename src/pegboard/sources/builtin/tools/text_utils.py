"""`text_utils`: exact operations on text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from pydantic import Field

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin import text_operations
from pegboard.tools import tool

Operation = Literal[
    "count", "case", "slug", "diff", "extract", "replace", "split", "join", "truncate", "hash",
    "encode", "decode",
]  # fmt: skip
Style = Literal[
    "upper", "lower", "title", "sentence", "camel", "pascal", "snake", "kebab", "constant",
    "sha256", "sha512", "sha1", "md5",
    "base64", "base64url", "hex", "url", "html",
]  # fmt: skip
Text = Annotated[str, Field(max_length=500_000)]
_DEFAULT_LIMIT = 1000


@tool(
    effect="read",
    category="general",
    idempotent=True,
    timeout=10,
    tags=("text", "string", "regex", "hash", "base64"),
)
def text_utils(
    operation: Operation,
    text: Text | None = None,
    *,
    other: Text | None = None,
    pattern: Annotated[str, Field(min_length=1, max_length=1000)] | None = None,
    separator: Annotated[str, Field(max_length=1000)] | None = None,
    items: Annotated[list[str], Field(max_length=10_000)] | None = None,
    style: Style | None = None,
    limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None,
) -> str | list[Any] | dict[str, Any]:
    r"""Do exact text work: count, change case, compare, find by pattern, split, hash, encode.

    Each operation takes `text` and the inputs in brackets:
    count: characters, words, lines, sentences, paragraphs and bytes.
    case (style): upper, lower, title, sentence, camel, pascal, snake, kebab or constant.
    slug: lower-case ASCII for URLs and file names.
    diff (other): a line-by-line unified diff from `text` to `other`.
    extract (pattern, limit): everything the pattern matches; with groups, the groups.
    replace (pattern, other, limit): `text` with matches replaced by `other`; \1 is a group.
    split (separator, limit): the parts; without a separator, at white space.
    join (items, separator; no text): the items in one text.
    truncate (limit): at most that many characters, cut at a word.
    hash (style): sha256, sha512, sha1 or md5, in hex.
    encode, decode (style): base64, base64url, hex, url or html.

    Args:
        operation: What to do.
        text: The text to work on.
        other: For diff: the second text. For replace: the replacement.
        pattern: A regular expression without look-around and backreferences (RE2); ^ and $ match
            at line ends; start it with (?i) to ignore case.
        separator: For split and join.
        items: For join: the parts.
        style: Which case, hash or encoding.
        limit: For extract, replace and split: at most so many (default 1000). For truncate: the
            greatest length in characters.
    """
    return _run(
        operation,
        _Inputs(
            text=text, other=other, pattern=pattern, separator=separator, items=items, style=style,
            limit=limit,
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """The inputs of an operation; None for those that were not given."""

    text: str | None
    other: str | None
    pattern: str | None
    separator: str | None
    items: list[str] | None
    style: str | None
    limit: int | None

    @property
    def names(self) -> set[str]:
        return {item.name for item in fields(self) if getattr(self, item.name) is not None}


@dataclass(frozen=True, slots=True)
class _OperationSpec:
    """One operation: its required and optional inputs, and its function."""

    do: Callable[[Any], Any]
    needs: tuple[str, ...] = ("text",)
    takes: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()


def _most(given: _Inputs) -> int:
    return given.limit or _DEFAULT_LIMIT


_WORK: Mapping[str, _OperationSpec] = {
    "count": _OperationSpec(lambda g: text_operations.count(g.text)),
    "case": _OperationSpec(
        lambda g: text_operations.case(g.text, g.style),
        ("text", "style"),
        (),
        text_operations.CASES,
    ),
    "slug": _OperationSpec(lambda g: text_operations.slug(g.text)),
    "diff": _OperationSpec(lambda g: text_operations.diff(g.text, g.other), ("text", "other")),
    "extract": _OperationSpec(
        lambda g: text_operations.extract(g.text, g.pattern, _most(g)),
        ("text", "pattern"),
        ("limit",),
    ),
    "replace": _OperationSpec(
        lambda g: text_operations.replace(g.text, g.pattern, g.other, _most(g)),
        ("text", "pattern", "other"),
        ("limit",),
    ),
    "split": _OperationSpec(
        lambda g: text_operations.split(g.text, g.separator, _most(g)),
        ("text",),
        ("separator", "limit"),
    ),
    "join": _OperationSpec(
        lambda g: text_operations.join(g.items, g.separator), ("items",), ("separator",)
    ),
    "truncate": _OperationSpec(
        lambda g: text_operations.truncate(g.text, g.limit), ("text", "limit")
    ),
    "hash": _OperationSpec(
        lambda g: text_operations.digest(g.text, g.style),
        ("text", "style"),
        (),
        text_operations.HASHES,
    ),
    "encode": _OperationSpec(
        lambda g: text_operations.encode(g.text, g.style),
        ("text", "style"),
        (),
        text_operations.ENCODINGS,
    ),
    "decode": _OperationSpec(
        lambda g: text_operations.decode(g.text, g.style),
        ("text", "style"),
        (),
        text_operations.ENCODINGS,
    ),
}


def _run(operation: str, given: _Inputs) -> Any:
    work = _WORK[operation]
    missing = [name for name in work.needs if name not in given.names]
    if missing:
        raise InvalidRequest(f"'{operation}' needs '{missing[0]}'.")
    surplus = sorted(given.names - {*work.needs, *work.takes})
    if surplus:
        raise InvalidRequest(f"'{operation}' takes no '{surplus[0]}'.")
    if work.styles and given.style not in work.styles:
        raise InvalidRequest(f"'{operation}' knows these styles: {', '.join(work.styles)}.")
    return work.do(given)

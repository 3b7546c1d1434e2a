"""The operations of `text_utils`, one function each."""

import base64
import binascii
import hashlib
import html
import re
import unicodedata
from typing import Any
from urllib.parse import quote, unquote

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.regex import Pattern

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")
_MAX_DIFF_LINES = 2_000
_MAX_REPLACED = 100_000
_MAX_CHARACTERS = 1_000_000

CASES = ("upper", "lower", "title", "sentence", "camel", "pascal", "snake", "kebab", "constant")
HASHES = ("sha256", "sha512", "sha1", "md5")
ENCODINGS = ("base64", "base64url", "hex", "url", "html")


def count(text: str) -> dict[str, int]:
    """Count characters, words, lines and more."""
    return {
        "characters": len(text),
        "characters_without_spaces": sum(not character.isspace() for character in text),
        "words": len(text.split()),
        "lines": len(text.splitlines()),
        "sentences": len(_SENTENCE_END.findall(text)),
        "paragraphs": sum(bool(part.strip()) for part in re.split(r"\n\s*\n", text)),
        "bytes": len(text.encode("utf-8", "surrogatepass")),
    }


def case(text: str, style: str) -> str:
    """Convert the text to another letter case."""
    match style:
        case "upper":
            return text.upper()
        case "lower":
            return text.lower()
        case "title":
            return re.sub(r"[^\W\d_]+('[^\W\d_]+)?", lambda word: word[0].capitalize(), text)
        case "sentence":
            return text[:1].upper() + text[1:].lower()
        case _:
            return _identifier([word.lower() for word in _WORD.findall(text)], style)


def slug(text: str) -> str:
    """Convert the text to lower-case ASCII letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ẞ", "SS"))
    ascii_only = plain.encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")


def diff(text: str, other: str) -> dict[str, Any]:
    """Return a unified diff by lines."""
    import difflib

    before, after = text.splitlines(), other.splitlines()
    if len(before) > _MAX_DIFF_LINES or len(after) > _MAX_DIFF_LINES:
        raise InvalidRequest(f"At most {_MAX_DIFF_LINES} lines can be compared.")
    lines = list(difflib.unified_diff(before, after, "text", "other", lineterm=""))
    return {
        "equal": text == other,
        "added": sum(line.startswith("+") for line in lines[2:]),
        "removed": sum(line.startswith("-") for line in lines[2:]),
        "diff": "\n".join(lines),
    }


def extract(text: str, pattern: str, limit: int) -> list[Any]:
    """Return the matches of a pattern: text, a list of groups, or an object of named groups."""
    compiled = Pattern(pattern)
    found: list[Any] = []
    for match in compiled.matches(text):
        found.append(_groups(match, compiled))
        if len(found) == limit:
            break
    return found


def replace(text: str, pattern: str, replacement: str, limit: int) -> dict[str, Any]:
    r"""Replace the matches of a pattern; `\1` and `\g<name>` refer to groups."""
    pieces: list[str] = []
    end = size = replaced = 0
    for match in Pattern(pattern).matches(text):
        pieces += [text[end : match.start()], _expand(match, replacement)]
        end = match.end()
        replaced += 1
        size += len(pieces[-1])
        if size > _MAX_CHARACTERS:
            raise InvalidRequest(f"The result has more than {_MAX_CHARACTERS} characters.")
        if replaced == min(limit, _MAX_REPLACED):
            break
    return {"text": "".join([*pieces, text[end:]]), "replaced": replaced}


def split(text: str, separator: str | None, limit: int) -> list[str]:
    """Split a text at a separator; without one, at white space."""
    return text.split(separator or None, limit - 1)


def join(items: list[str], separator: str | None) -> str:
    """Join the items into one text."""
    glue = "" if separator is None else separator
    if sum(map(len, items)) + len(glue) * len(items) > _MAX_CHARACTERS:
        raise InvalidRequest(f"The result has more than {_MAX_CHARACTERS} characters.")
    return glue.join(items)


def truncate(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, between words if possible, ending in an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_word = cut.rpartition(" ")[0].rstrip()
    return (at_word if len(at_word) * 2 > limit else cut) + "…"


def digest(text: str, style: str) -> str:
    """Return a hash of the UTF-8 text in hex. SHA-1 and MD5 are not secure."""
    return hashlib.new(style, text.encode(), usedforsecurity=False).hexdigest()


def encode(text: str, style: str) -> str:
    """Encode the UTF-8 text."""
    data = text.encode()
    match style:
        case "base64":
            return base64.b64encode(data).decode()
        case "base64url":
            return base64.urlsafe_b64encode(data).decode().rstrip("=")
        case "hex":
            return data.hex()
        case "url":
            return quote(text, safe="")
        case _:
            return html.escape(text)


def decode(text: str, style: str) -> str:
    """Decode an encoded text."""
    try:
        match style:
            case "base64" | "base64url":
                standard = "".join(text.split()).translate(str.maketrans("-_", "+/")).rstrip("=")
                padded = standard + "=" * (-len(standard) % 4)
                return base64.b64decode(padded, validate=True).decode()
            case "hex":
                return bytes.fromhex(text).decode()
            case "url":
                return unquote(text, errors="strict")
            case _:
                return html.unescape(text)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(f"This is not {style}-encoded UTF-8 text.") from error


def _identifier(words: list[str], style: str) -> str:
    match style:
        case "camel":
            return "".join(words[:1] + [word.capitalize() for word in words[1:]])
        case "pascal":
            return "".join(word.capitalize() for word in words)
        case "kebab":
            return "-".join(words)
        case "constant":
            return "_".join(words).upper()
        case _:
            return "_".join(words)


def _groups(match: Any, pattern: Pattern) -> Any:
    if pattern.names:
        return match.groupdict()
    groups = match.groups()
    if not groups:
        return match.group()
    return groups[0] if len(groups) == 1 else list(groups)


def _expand(match: Any, replacement: str) -> str:
    if "\\" not in replacement:
        return replacement
    try:
        return match.expand(replacement)
    except (IndexError, KeyError, ValueError, re.error) as error:
        raise InvalidRequest(
            f"The replacement refers to a group that the pattern does not have: {replacement!r}."
        ) from error

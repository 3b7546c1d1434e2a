"""Resolves `$ref` inside the document and into files beside it, never from the network."""

from collections.abc import Iterator, Mapping
from typing import Any, cast
from urllib.parse import unquote

from pegboard.core.text.truncate import truncate
from pegboard.sources.openapi.document.lenient_access import LocatedNode, mapping

_MAX_CHAIN = 50
_MISSING = object()


class BadReference(ValueError):
    """A `$ref` that cannot be resolved; the message names it."""


class References:
    """Resolves the references of one document.

    Args:
        files: The document under "", and the files it refers to by path from its folder.
        refused: Reasons for the files that could not be read.
    """

    def __init__(self, files: Mapping[str, Any], refused: Mapping[str, str] | None = None) -> None:
        self._files = files
        self._refused = refused or {}
        self._anchors: dict[str, dict[str, Any]] = {}

    def schema_addresses(self) -> Iterator[str]:
        """Yield the addresses of the document's shared schemas, in its order."""
        root = mapping(self._files.get(""))
        places = {
            "/components/schemas": mapping(mapping(root.get("components")).get("schemas")),
            "/definitions": mapping(root.get("definitions")),
        }
        for pointer, schemas in places.items():
            for name in schemas:
                yield f"#{pointer}/{name.replace('~', '~0').replace('/', '~1')}"

    def resolve(self, place: LocatedNode) -> LocatedNode:
        """Follow the references of a part, and of their targets, to its value.

        Raises:
            BadReference: The target does not exist, is circular, or is outside of the document.
        """
        return self.follow(place)[0]

    def follow(self, place: LocatedNode) -> tuple[LocatedNode, str]:
        """Resolve a part, and return the address of its last reference; empty without one."""
        seen: list[str] = []
        while isinstance(ref := place.fields.get("$ref"), str):
            place, address = self.target(ref, place.file)
            if address in seen or len(seen) > _MAX_CHAIN:
                raise BadReference(f"$ref {ref!r} leads in a circle")
            seen.append(address)
        return place, seen[-1] if seen else ""

    def target(self, ref: str, file: str) -> tuple[LocatedNode, str]:
        """Return the target of one reference and its canonical address.

        Raises:
            BadReference: It does not exist, or is outside of the document.
        """
        path, _, fragment = ref.partition("#")
        where = join_path(file, path) if path else file
        if where is None or where not in self._files:
            raise BadReference(self._reason(ref, path, where))
        pointer = unquote(fragment)
        node = self._at(where, pointer)
        if node is _MISSING:
            raise BadReference(f"$ref {_shorten(ref)} leads to nothing")
        return LocatedNode(node=node, file=where), f"{where}#{pointer}"

    def _reason(self, ref: str, path: str, where: str | None) -> str:
        if "://" in path or path.startswith("//"):
            return f"$ref {_shorten(ref)} leads to another address, and references are not fetched"
        reason = self._refused.get(where or path, "leads out of the document")
        return f"$ref {_shorten(ref)} {reason}"

    def _at(self, file: str, pointer: str) -> Any:
        if not pointer:
            return self._files[file]
        if not pointer.startswith("/"):
            return self._anchors_of(file).get(pointer, _MISSING)
        node: Any = self._files[file]
        for token in pointer[1:].split("/"):
            node = _step(node, token.replace("~1", "/").replace("~0", "~"))
        return node

    def _anchors_of(self, file: str) -> dict[str, Any]:
        if file not in self._anchors:
            found: dict[str, Any] = {}
            waiting: list[Any] = [self._files[file]]
            seen: set[int] = set()
            while waiting:
                node = waiting.pop()
                if not isinstance(node, (dict, list)) or id(cast("Any", node)) in seen:
                    continue
                seen.add(id(cast("Any", node)))
                if isinstance(node, list):
                    waiting.extend(cast("list[Any]", node))
                    continue
                fields = mapping(cast("Any", node))
                for key in ("$anchor", "$dynamicAnchor"):
                    if isinstance(name := fields.get(key), str):
                        found.setdefault(name, fields)
                waiting.extend(fields.values())
            self._anchors[file] = found
        return self._anchors[file]


def join_path(file: str, path: str) -> str | None:
    """Resolve a path relative to a file; None if it leaves the document's folder."""
    if "://" in path or path.startswith(("/", "\\")) or "\0" in path:
        return None
    parts = file.split("/")[:-1]
    for part in unquote(path).split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _step(node: Any, token: str) -> Any:
    if isinstance(node, dict):
        return cast("dict[str, Any]", node).get(token, _MISSING)
    if isinstance(node, list) and token.isascii() and token.isdigit() and len(token) < 7:
        items = cast("list[Any]", node)
        return items[int(token)] if int(token) < len(items) else _MISSING
    return _MISSING


def _shorten(ref: str) -> str:
    return repr(truncate(ref, 120))

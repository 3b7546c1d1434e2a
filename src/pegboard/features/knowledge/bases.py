"""The knowledge bases of a board: stored resources, and those of the board file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from pydantic import ValidationError

from pegboard.access.visibility import ResourceIndex, VisibilityDecision
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import AccessDenied, InvalidRequest, ResourceNotFound
from pegboard.features.knowledge.schemas import BaseSettings
from pegboard.features.resources.rules import may_edit

WebPolicy = Literal["members", "operators", "off"]
"""Who may add web addresses: those who may change the base, operators of them, or nobody."""
DECLARED = "board:"
"""What the ids of bases of the board file begin with."""


class DeclaredBase(Struct, frozen=True, kw_only=True):
    """A base of the board file.

    Attributes:
        folder: Where its documents are; empty for an address.
        url: The address of the page, with those below it.
        pages: Of an address, at most.
        refresh: Seconds between two looks at its source; 0 for none.
    """

    name: str
    title: str = ""
    description: str = ""
    folder: str = ""
    url: str = ""
    pages: int = 50
    refresh: float = 0.0
    settings: BaseSettings = BaseSettings()


class KnowledgeBase(Struct, frozen=True, kw_only=True):
    """A base that is there.

    Attributes:
        id: Of its resource; of the board file `board:` and its name.
        resource: Its row; None for one of the board file.
        declared: Its entry in the board file; None for a stored one.
    """

    id: str
    name: str
    title: str = ""
    description: str = ""
    settings: BaseSettings = BaseSettings()
    resource: StoredResource | None = None
    declared: DeclaredBase | None = None


class Bases:
    """Finds the bases that a caller may see, without a query.

    Args:
        index: The stored resources, and who may see which.
        declared: The bases of the board file in force.
    """

    def __init__(
        self, index: ResourceIndex, declared: Callable[[], Sequence[DeclaredBase]]
    ) -> None:
        self._index = index
        self._declared = declared

    def list_visible(self, principal: Principal) -> list[KnowledgeBase]:
        """Those that a caller may see, by name."""
        return sorted(self._iterate(principal), key=lambda base: base.name)

    def has_any(self) -> bool:
        """Whether there is any, whoever may see it."""
        return any(True for _ in self._iterate(LOCAL))

    def find(self, name: str, *, principal: Principal) -> KnowledgeBase:
        """The base of an id or a name.

        Raises:
            ResourceNotFound: There is none for this caller.
        """
        known = self.list_visible(principal)
        for base in known:
            if name in {base.id, base.name}:
                return base
        hint = did_you_mean(name, [base.name for base in known])
        raise ResourceNotFound(
            f"There is no knowledge base '{name[:100]}'{f'; {hint}' if hint else '.'}"
        )

    def select(self, names: Sequence[str], *, principal: Principal) -> list[KnowledgeBase]:
        """Those of these ids and names; all for none. Raises as `find`."""
        if not names:
            return self.list_visible(principal)
        chosen = (self.find(name, principal=principal) for name in names)
        return [*{base.id: base for base in chosen}.values()]

    def get(self, id: str) -> KnowledgeBase | None:  # noqa: A002 - it is known by its id
        """The one of an id, whoever may see it; None when there is none."""
        return next((base for base in self._iterate(LOCAL) if base.id == id), None)

    def resolve(self, resource: StoredResource, *, principal: Principal) -> VisibilityDecision:
        """Why a caller sees a stored base."""
        return self._index.resolve(principal, resource)

    def is_declared(self, name: str) -> bool:
        """Whether the board file has a base of this name."""
        return any(entry.name == name for entry in self._declared())

    def _iterate(self, principal: Principal) -> Iterator[KnowledgeBase]:
        taken: set[str] = set()
        for entry in self._declared():
            taken.add(entry.name)
            yield KnowledgeBase(
                id=f"{DECLARED}{entry.name}",
                name=entry.name,
                title=entry.title,
                description=entry.description,
                settings=entry.settings,
                declared=entry,
            )
        for resource in self._index.list_visible(principal, "knowledge"):
            if resource.name not in taken:
                yield to_base(resource)


def to_base(resource: StoredResource) -> KnowledgeBase:
    """A stored resource as a base."""
    return KnowledgeBase(
        id=resource.id,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        settings=_read_settings(resource.config),
        resource=resource,
    )


def check_base_config(config: Mapping[str, Any]) -> None:
    """Check the configuration of a base.

    Raises:
        InvalidRequest: It is wrong.
    """
    try:
        BaseSettings.model_validate(dict(config))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise InvalidRequest(f"config.{place}: {fault['msg']}") from None


def may_edit_base(principal: Principal, base: KnowledgeBase) -> bool:
    """Whether a caller may change a base and its documents; of the board file operators alone."""
    if base.resource is None:
        return principal.is_operator
    return may_edit(principal, base.resource)


def may_add_web(principal: Principal, web: WebPolicy) -> bool:
    """Whether a caller who may change a base may add web addresses to it."""
    return web == "members" or (web == "operators" and principal.is_operator)


def check_may_edit(principal: Principal, base: KnowledgeBase) -> None:
    """Refuse a caller that may not change a base.

    Raises:
        AccessDenied: The caller is one.
    """
    if not may_edit_base(principal, base):
        who = "operators change" if base.resource is None else "its owner changes"
        raise AccessDenied(base.name, f"only {who} this knowledge base and its documents")


def scope_of(bases: Sequence[KnowledgeBase], principal: Principal, **more: Any) -> DocumentScope:
    """Whose documents of these bases a caller may see."""
    return DocumentScope(bases=tuple(base.id for base in bases), principal=principal, **more)


def _read_settings(config: Mapping[str, Any]) -> BaseSettings:
    try:
        return BaseSettings.model_validate(dict(config))
    except ValidationError:  # of a newer version
        return BaseSettings()

"""The knowledge bases of a board, stored and of the board file, and what they are filled from."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from msgspec import Struct
from pydantic import ValidationError

from pegboard.access.visibility import ResourceIndex, VisibilityDecision
from pegboard.core.ports.accounts.resource_store import ResourceVisibility, StoredResource
from pegboard.core.ports.knowledge.document_store import Audience, DocumentScope, StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import AccessDenied, InvalidRequest, ResourceNotFound
from pegboard.features.knowledge.schemas import BaseSettings
from pegboard.features.resources.rules import may_edit

WebPolicy = Literal["members", "operators", "off"]
"""Who may add web addresses: those who may change the base, operators of them, or nobody."""
DECLARED = "board:"
"""What the ids of bases of the board file begin with."""
FOLDER = "file:"
"""What the source of a document of a folder begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBase:
    """A base to add.

    Attributes:
        name: Without the handle of its owner.
        settings: As `BaseSettings` reads them.
    """

    name: str
    title: str = ""
    description: str = ""
    organisation: str = ""
    visibility: ResourceVisibility = "private"
    settings: dict[str, Any] | None = None


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


class DocumentSource(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What becomes documents of which base.

    Attributes:
        base: Its id.
        folder: A folder of the server; empty for an address.
        url: The address of the first page.
        below: Whether the pages below it come, too.
        at_most: Pages.
        audience: Of its documents; None for the one with which the source was added before, and
            `base` for a new one.
        is_known: Whether it was added before and is only looked at again: what is there stays for
            those who see it, and what is new has the audience.
    """

    base: str
    folder: str = ""
    url: str = ""
    below: bool = False
    at_most: int = 50
    audience: Audience | None = None
    organisation: str = ""
    is_known: bool = False

    @property
    def source(self) -> str:
        """What the documents name as their source."""
        return self.url or f"{FOLDER}{self.folder}"

    @property
    def place(self) -> str:
        """The same for all spellings of a folder, as with a slash at its end."""
        return self.url or f"{FOLDER}{PurePath(self.folder)}"


class Bases:
    """Finds the bases that a caller may see, without a query.

    Args:
        index: The stored resources, and who may see which.
        declared: The bases of the board file in force.
        find_stored: The row of a stored base, as it is now on all servers.
    """

    def __init__(
        self,
        index: ResourceIndex,
        declared: Callable[[], Sequence[DeclaredBase]],
        find_stored: Callable[[str], Awaitable[StoredResource | None]],
    ) -> None:
        self._index = index
        self._declared = declared
        self._find_stored = find_stored

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

    async def check_takes_in(
        self, base: KnowledgeBase, *, undo: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Refuse a base that is deleted, or is being deleted, by whichever server.

        Args:
            base: The base.
            undo: What to do first if it is refused.

        Raises:
            ResourceNotFound: It is refused.
        """
        stored = await self._find_stored(base.id) if base.resource is not None else None
        if base.resource is None or (stored is not None and not stored.is_being_deleted):
            return
        if undo is not None:
            await undo()
        if stored is not None:
            raise ResourceNotFound(f"The knowledge base '{base.name}' is being deleted.")
        raise ResourceNotFound(f"There is no knowledge base '{base.name}'.")

    async def is_being_deleted(self, base: KnowledgeBase) -> bool:
        """Whether a base is being deleted, by whichever server."""
        stored = await self._find_stored(base.id) if base.resource is not None else None
        return stored is not None and stored.is_being_deleted

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


def may_edit_document(principal: Principal, base: KnowledgeBase, row: StoredDocument) -> bool:
    """Whether a caller may change a document: who may change the base, or who has put it in."""
    return may_edit_base(principal, base) or (bool(principal.user) and row.owner == principal.owner)


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


def check_may_gather(
    principal: Principal, base: KnowledgeBase, wanted: DocumentSource, *, web: WebPolicy
) -> None:
    """Refuse a folder to a caller who is no operator, and an address as the operators have said.

    Raises:
        AccessDenied: The caller may not take it in.
        InvalidRequest: The board file says who sees its documents: all who see the base.
    """
    if wanted.folder and not principal.is_operator:
        raise AccessDenied(base.name, "only operators take in folders of the server")
    is_declared = is_of_board_file(base, wanted)
    if is_declared and wanted.audience not in {None, "base"}:
        raise InvalidRequest(
            "The board file declares this source of the base: all who see the base see its "
            "documents. Change who sees one of them once it is here."
        )
    if wanted.url and not is_declared and not may_add_web(principal, web):
        who = "only operators add" if web == "operators" else "this server does not take in"
        raise AccessDenied(base.name, f"{who} web addresses (PEGBOARD_KNOWLEDGE_WEB)")


def is_of_board_file(base: KnowledgeBase, wanted: DocumentSource) -> bool:
    """Whether the board file declares a source of a base."""
    declared = base.declared
    if declared is None:
        return False
    folder, url = declared.folder, declared.url
    return wanted.place == DocumentSource(base=base.id, folder=folder, url=url).place


def check_audience(audience: Audience, organisation: str, principal: Principal) -> None:
    """Refuse an audience that is not one of the caller's.

    Raises:
        InvalidRequest: No organisation is given, or one that the caller is not in.
    """
    if audience != "organisation":
        return
    if not organisation:
        raise InvalidRequest("Give the organisation that may see the document.")
    if principal.user and organisation not in principal.organisations:
        raise InvalidRequest(f"You are not in an organisation '{organisation[:64]}'.")


def scope_of(bases: Sequence[KnowledgeBase], principal: Principal, **more: Any) -> DocumentScope:
    """Whose documents of these bases a caller may see."""
    return DocumentScope(bases=tuple(base.id for base in bases), principal=principal, **more)


def _read_settings(config: Mapping[str, Any]) -> BaseSettings:
    try:
        return BaseSettings.model_validate(dict(config))
    except ValidationError:  # of a newer version
        return BaseSettings()

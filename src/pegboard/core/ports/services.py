"""The services of a board that a source may use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pegboard.core.ports.accounts.credentials import SourceCredentials
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.core.ports.http import HttpClient
from pegboard.core.ports.knowledge.bases import KnowledgeBases
from pegboard.core.ports.knowledge.document_converter import DocumentConverter
from pegboard.core.ports.sandbox import Sandbox
from pegboard.core.ports.source_services.address_guard import AddressGuard
from pegboard.core.ports.source_services.oauth_login import OAuthLogins
from pegboard.core.ports.source_services.providers import Providers
from pegboard.core.ports.source_services.subagents import SubagentRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Handed to `SourceKind.open`.

    Attributes:
        http: The one guarded outbound HTTP client; None on a board without network.
        base_dir: The folder that relative paths of the configuration start from.
        working: The folder for copies of files while they are worked on; None for that of the
            system.
        data_dir: The data directory of the board; None on a board without storage.
        workspace: The folder that file tools are confined to unless a call names another; shared by
            all callers.
        sandbox: Where foreign code and commands run; None on a board without one.
        environ: The environment variables of the process, to pass chosen ones to a child.
        providers: The services of others that built-in tools use.
        agents: Runs agents that are tools; None where there is no board.
        knowledge: Answers from knowledge bases; None where there is no board.
        converter: Reads files as text; None where there is no board.
        logins: Where people log in to systems by OAuth; None where they cannot.
        credentials: Finds credentials of callers for sources with sessions of their own; None where
            none are stored.
        addresses: Checks where clients without HTTP connect; None for sources that the operator
            has chosen.
        workspaces: Without a `workspace`, the parent folder of one workspace for each caller.
    """

    http: HttpClient | None = None
    base_dir: Path = field(default_factory=Path.cwd)
    working: Path | None = None
    data_dir: Path | None = None
    workspace: Path | None = None
    workspaces: Path | None = None
    sandbox: Sandbox | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    providers: Providers = field(default_factory=Providers)
    agents: SubagentRunner | None = None
    knowledge: KnowledgeBases | None = None
    converter: DocumentConverter | None = None
    logins: OAuthLogins | None = None
    credentials: SourceCredentials | None = None
    addresses: AddressGuard | None = None
    clock: Clock = field(default_factory=SystemClock)

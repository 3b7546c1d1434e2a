"""The models of `board.yaml`."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictFloat,
    StrictInt,
)

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.agents import AgentEntries
from pegboard.runtime.board_file.failover import HealingEntry
from pegboard.runtime.board_file.files import FilesEntry
from pegboard.runtime.board_file.knowledge import KnowledgeEntries
from pegboard.runtime.board_file.language_models import LanguageModels
from pegboard.runtime.board_file.marketplaces import Marketplaces
from pegboard.runtime.board_file.pinning import PinningEntry
from pegboard.runtime.board_file.quotas import QuotasEntry

_STRICT = ConfigDict(frozen=True, extra="forbid")

Member = TypeVar("Member", bound=Enum)


class SourceEntry(BaseModel):
    """One source of tools."""

    model_config = _STRICT

    kind: Annotated[str, Field(description="What kind of source; `pegboard doctor` lists them.")]
    name: Annotated[
        str, Field(description="The first part of its tools' names; by default its kind.")
    ] = ""
    config: Annotated[
        dict[str, Any], Field(description="The kind's own configuration; see its reference.")
    ] = Field(default_factory=dict[str, Any])
    enabled: Annotated[bool, Field(description="Whether it is opened at all.")] = True
    trusted: Annotated[
        bool | None,
        Field(
            description="Whether its results are text of people whom you trust. By default, "
            "those of MCP servers with a `url`, and of tools for the web and files, are not."
        ),
    ] = None


def _check_time(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"write the time too, as '{value:g}/s'")  # noqa: TRY004 - pydantic reports it
    return value


class LimitEntry(BaseModel):
    """Limits for the tools that a glob matches."""

    model_config = _STRICT

    rate: Annotated[
        str | None,
        BeforeValidator(_check_time),
        Field(description="Calls per time: `20/s`, `100/min`, `1000/h`, `5/10s`."),
    ] = None
    concurrency: Annotated[int | None, Field(ge=1, description="Calls in flight at once.")] = None


class CallRuleEntry(BaseModel):
    """A rule that looks at the caller, the arguments or the time."""

    model_config = _STRICT

    when: Annotated[
        str,
        Field(
            min_length=1,
            description="A condition in CEL over `principal`, `tool`, `args`, `run` and `now`.",
        ),
    ]
    then: Annotated[Literal["deny", "ask", "allow"], Field(description="What holds then.")]
    reason: Annotated[
        str, Field(description="What the caller reads, instead of the condition.")
    ] = ""
    by: Annotated[
        Literal["", "other"],
        Field(
            description="With `ask`, who approves: `other` for anybody who may, but those who "
            "asked for the call."
        ),
    ] = ""


class AskEntry(BaseModel):
    """Tools whose calls a person must approve, and which person."""

    model_config = _STRICT

    tool: Annotated[str, Field(min_length=1, description="A glob over tool names.")]
    by: Annotated[
        Literal["other"],
        Field(description="`other`: anybody who may approve, but those who asked for the call."),
    ]


class PolicyEntry(BaseModel):
    """Who may call what; globs over tool names, deny beats ask beats allow."""

    model_config = _STRICT

    deny: Annotated[tuple[str, ...], Field(description="Never.")] = ()
    ask: Annotated[
        tuple[str | AskEntry, ...],
        Field(
            description="Only after a person has approved the call; "
            '`{tool: "shop__refund", by: other}` keeps those who asked from approving.'
        ),
    ] = ()
    allow: Annotated[
        tuple[str, ...], Field(description="Without an approval, whatever the effect.")
    ] = ()
    effects: Annotated[
        dict[str, str],
        Field(description="The rule for all other tools, by effect: `{admin: ask}`."),
    ] = Field(default_factory=dict[str, str])
    limits: Annotated[
        dict[str, LimitEntry], Field(description="Limits by glob; every matching entry applies.")
    ] = Field(default_factory=dict[str, LimitEntry])
    rules: Annotated[
        tuple[CallRuleEntry, ...],
        Field(
            description="Rules that look at single calls: "
            "`{when: \"tool.name == 'shop__refund' && args.amount > 100\", then: ask}`."
        ),
    ] = ()
    untrusted: Annotated[
        Literal["allow", "ask", "deny"],
        Field(
            description="With accounts: the rule for a write that leaves the board, in a run "
            "that has read untrusted text, of tools that match no glob and no rule."
        ),
    ] = "ask"
    trust_messages: Annotated[
        bool,
        Field(
            description="Whether `untrusted: ask` asks about no call whose caller has named what "
            "it acts on, in a message of the conversation."
        ),
    ] = True
    strict: Annotated[
        bool,
        Field(
            description="Refuse to start, or to reload, when a `deny` or `ask` rule matches no "
            "tool although its sources have answered; otherwise that is a warning."
        ),
    ] = False


class NetworkEntry(BaseModel):
    """Which private addresses tools may reach; public ones always."""

    model_config = _STRICT

    allow_hosts: Annotated[
        tuple[str, ...], Field(description="`host`, `host:port` or `*.host`.")
    ] = ()
    allow_networks: Annotated[tuple[str, ...], Field(description="CIDR blocks.")] = ()


BackEndName = Literal["bubblewrap", "landlock", "monty"]


class SandboxEntry(BaseModel):
    """Where foreign code and commands may run."""

    model_config = _STRICT

    back_ends: Annotated[
        tuple[BackEndName, ...],
        Field(
            description="Back ends that may be used if they pass their probe on this machine: "
            "`bubblewrap` and `landlock` for commands, `monty` for Python code."
        ),
    ] = ("bubblewrap", "landlock", "monty")
    network: Annotated[
        bool,
        Field(
            description="Whether a source may give its commands network access, including to "
            "servers on this machine."
        ),
    ] = False


class RetryPolicyEntry(BaseModel, frozen=True):
    """The RFC's retry policy."""

    model_config = ConfigDict(extra="forbid")

    max_retries: Annotated[int, Field(ge=0, le=100)] = 3
    backoff_ms: Annotated[float, Field(ge=0)] = 1000


class ToolEntry(BaseModel, frozen=True):
    """A manually registered tool, in the form of RFC-0003."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    tool_id: Annotated[str, Field(description="`{slug}_v{major}`.", pattern=r"^[a-zA-Z0-9_-]+$")]
    name: Annotated[str, Field(description="For people.")] = ""
    description: str = ""
    type: Annotated[str, Field(description="`PythonFunction`, `LocalScript`, `RestAPI`, ...")]
    capabilities: tuple[str, ...] = ()
    supported_tasks: tuple[str, ...] = ()
    examples: Annotated[
        tuple[dict[str, Any], ...],
        Field(description="Arguments of typical calls, which models are shown."),
    ] = ()
    tags: tuple[str, ...] = ()
    category: str = ""
    effect: Annotated[
        str | None, Field(description="Defaults to the effect the function declares, else `write`.")
    ] = None
    destructive: Annotated[
        bool | None,
        Field(
            description="Whether a tool that writes may destroy or overwrite something; by default "
            "what the function declares, else unknown, which counts as yes."
        ),
    ] = None
    idempotent: bool | None = None
    input_schema: Annotated[
        dict[str, Any] | None,
        Field(
            description="JSON Schema, or shorthand: `{query: string}`; by default the function's."
        ),
    ] = None
    output_schema: dict[str, Any] | None = None
    dependencies: tuple[str, ...] = ()
    status: str = ""
    version: str = ""
    timeout_ms: Annotated[float | None, Field(ge=0)] = None
    retry_policy: RetryPolicyEntry | None = None
    import_: Annotated[
        str, Field(alias="import", description="`package.module:function` (PythonFunction).")
    ] = ""
    script_path: Annotated[str, Field(description="The script (LocalScript).")] = ""
    memory_mb: Annotated[
        int | None,
        Field(
            ge=16,
            le=1_048_576,
            description="Memory of each process of a script that does not say it (LocalScript).",
        ),
    ] = None
    agent_config: Annotated[
        dict[str, Any] | None, Field(description="Model, limits and tools (Subagent).")
    ] = None
    url: Annotated[
        str,
        Field(description="The address (RestAPI, Database); the name of a base (KnowledgeBase)."),
    ] = ""
    method: Annotated[str, Field(description="The method (RestAPI).")] = ""
    server: Annotated[
        str,
        Field(
            description="A source that is an MCP server, or the address of one (MCPTool); the "
            "address of the OpenAPI document that describes it (RestAPI)."
        ),
    ] = ""
    tool: Annotated[
        str,
        Field(
            description="Its name on the server (MCPTool) or in the document (RestAPI); "
            "`list_tables`, `describe_table`, `query` or `execute`, by default `query` (Database); "
            "`kb_retrieve` or `grounded_retrieve` (KnowledgeBase)."
        ),
    ] = ""
    pin: Annotated[
        str,
        Field(
            description="Digest of the definition on a server that is named by its address: "
            "while the server's definition differs, the tool is not called. "
            "Written by a marketplace."
        ),
    ] = ""


NodeName = Annotated[str, Field(min_length=1, max_length=128)]


class GraphEntry(BaseModel):
    """Dependencies between tools, in addition to those that tools declare."""

    model_config = _STRICT

    edges: Annotated[
        tuple[tuple[NodeName, NodeName], ...],
        Field(description="Pairs of a prerequisite and its dependant, by id or name: `[a, b]`."),
    ] = ()


ImportPattern = Annotated[str, Field(pattern=r"^[^:]+:[^:]+$")]


class CatalogueEntry(BaseModel):
    """What tools that are registered over the API may run; by default nothing."""

    model_config = _STRICT

    imports: Annotated[
        tuple[ImportPattern, ...],
        Field(
            description="Objects as `package.module:name`, for PythonFunction, LangChainTool. In a "
            "pattern `*` stands for no dot, and for public names that the module itself defines."
        ),
    ] = ()
    scripts: Annotated[
        tuple[str, ...],
        Field(description="Folders that may contain the script of a LocalScript."),
    ] = ()
    databases: Annotated[
        tuple[str, ...],
        Field(description="URLs of a Database, without the password; only for reading."),
    ] = ()


EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
EnvValue = Annotated[str, Strict(), Field(max_length=2000)] | StrictBool | StrictInt | StrictFloat


class OrganisationEntry(BaseModel):
    """What the board keeps for one organisation."""

    model_config = _STRICT

    env: Annotated[
        dict[EnvName, EnvValue],
        Field(
            max_length=100,
            description="Values that plans and graphs of its people read as `$.env`, beside those "
            "of the board and before them; no secrets.",
        ),
    ] = Field(default_factory=dict[str, EnvValue])


class Board(BaseModel):
    """The whole file."""

    model_config = _STRICT

    sources: Annotated[tuple[SourceEntry, ...], Field(description="Where tools come from.")] = ()
    tools: Annotated[tuple[ToolEntry, ...], Field(description="Tools registered by hand.")] = ()
    skills: Annotated[
        tuple[Path, ...],
        Field(
            description="Folders of skills, or folders that contain them: the source `skills` of "
            "that kind."
        ),
    ] = ()
    knowledge: Annotated[
        KnowledgeEntries,
        Field(description="Knowledge bases that everybody may ask, from folders and addresses."),
    ] = ()
    agents: Annotated[
        AgentEntries, Field(description="Agents that people and programs can choose.")
    ] = ()
    always_listed: Annotated[
        tuple[str, ...],
        Field(
            description="Names and globs of tools that agents are always shown, beside those that "
            "fit the question; `crm__*` for all of a source."
        ),
    ] = ()
    search_by_meaning: Annotated[
        bool,
        Field(
            description="Whether tools are found by their meaning as well as by words, with the "
            "model of `models.embed`; needs `pegboard[knowledge]`."
        ),
    ] = False
    rerank_tools: Annotated[
        bool,
        Field(
            description="Whether the model of `models.fast` re-orders the tools that were found "
            "for a message, before agents are shown the first of them."
        ),
    ] = False
    policy: Annotated[PolicyEntry, Field(description="Who may call what.")] = PolicyEntry()
    network: Annotated[
        NetworkEntry, Field(description="Which private addresses may be reached.")
    ] = NetworkEntry()
    sandbox: Annotated[
        SandboxEntry, Field(description="Where foreign code and commands may run.")
    ] = SandboxEntry()
    graph: Annotated[GraphEntry, Field(description="Which tools need which.")] = GraphEntry()
    env: Annotated[
        dict[EnvName, EnvValue],
        Field(
            max_length=100,
            description="Values that plans and graphs may read as `$.env`; no secrets.",
        ),
    ] = Field(default_factory=dict[str, EnvValue])
    organisations: Annotated[
        dict[str, OrganisationEntry], Field(description="By the handle of the organisation.")
    ] = Field(default_factory=dict[str, OrganisationEntry])
    catalogue: Annotated[
        CatalogueEntry, Field(description="What tools that are registered over the API may run.")
    ] = CatalogueEntry()
    pinning: Annotated[
        PinningEntry, Field(description="Which changes of upstream tool definitions are accepted.")
    ] = PinningEntry()
    healing: Annotated[
        HealingEntry, Field(description="What a run does when no tool of a step is available.")
    ] = HealingEntry()
    models: Annotated[LanguageModels, Field(description="Which language models agents use.")] = (
        LanguageModels()
    )
    quotas: Annotated[
        QuotasEntry,
        Field(
            description="How much each person, service account and organisation may use, where "
            "operators have set nothing else."
        ),
    ] = QuotasEntry()
    files: Annotated[FilesEntry, Field(description="How much people may store.")] = FilesEntry()
    marketplaces: Annotated[
        Marketplaces, Field(description="External catalogues whose entries can be added.")
    ] = ()


def parse_member(kind: type[Member], value: str, where: str) -> Member:
    """The member of an enumeration that a board file names.

    Raises:
        ConfigError: There is no such member; the message lists those there are.
    """
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(item.value for item in kind)
        raise ConfigError(f"{where}: '{value}' should be one of {known}") from error

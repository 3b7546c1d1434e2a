"""`ToolRequest`: for whom and for which agent tools are put together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from pegboard.core.knowledge import RetrievalMode
from pegboard.core.principal import Principal

ToolMode = Literal["progressive", "direct"]
SkillMode = Literal["progressive", "direct", "inline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolModes:
    """How a model reaches what is not listed, by the family of the tools.

    Attributes:
        connector: `progressive`: by a meta-tool; `direct`: as any other tool.
        skill: `inline`: its text stands in the system prompt.
    """

    connector: ToolMode = "progressive"
    database: ToolMode = "progressive"
    mcp: ToolMode = "progressive"
    skill: SkillMode = "progressive"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """For whom and for which agent the tools of one request are put together.

    Attributes:
        principal: The caller.
        agent: The selected agent; empty for none, which is the mode *auto*.
        tools: The names of the only tools of the agent, skills apart; None where it lists none.
        categories: Of its built-in tools, functions, scripts and LangChain tools; empty for all.
        connector_ids: Names and globs of its APIs and databases.
        kb_ids: Names and globs of its knowledge bases.
        retrieval_mode: How it asks them.
        modes: How a model reaches what is not listed.
        delegates: The agents that `call_agent` reaches in the mode *auto*, with descriptions.
        missing: Why a tool that belongs here is missing, by name.
        accounts: By source, the name of the caller's credential that the agent acts with.
    """

    principal: Principal
    agent: str = ""
    tools: frozenset[str] | None = None
    categories: tuple[str, ...] = ()
    connector_ids: tuple[str, ...] = ()
    kb_ids: tuple[str, ...] = ()
    retrieval_mode: RetrievalMode = "simple"
    modes: ToolModes = field(default_factory=ToolModes)
    delegates: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    accounts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def is_auto(self) -> bool:
        """Whether no agent is selected."""
        return not self.agent

    def binds(self, source: str) -> bool:
        """Whether an API or a database is bound."""
        return self.is_auto or any(fnmatchcase(source, item) for item in self.connector_ids)

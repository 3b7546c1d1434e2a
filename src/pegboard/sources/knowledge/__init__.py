"""The source kind for knowledge bases."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.knowledge.config import KnowledgeConfig, trust_results
from pegboard.sources.knowledge.source import open_knowledge
from pegboard.sources.knowledge.tools import list_names

KIND = SourceKind(
    kind="knowledge",
    title="Knowledge bases",
    config=KnowledgeConfig,
    open=open_knowledge,
    trusts=trust_results,
    plain_names=list_names,
)

__all__ = ["KIND"]

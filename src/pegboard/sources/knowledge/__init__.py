"""The source kind for knowledge bases."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.knowledge.config import KnowledgeConfig
from pegboard.sources.knowledge.source import open_knowledge
from pegboard.sources.knowledge.tools import NAMES


def _never(_config: object) -> bool:
    return False


KIND = SourceKind(
    kind="knowledge",
    title="Knowledge bases",
    config=KnowledgeConfig,
    open=open_knowledge,
    trusts=_never,
    plain_names=lambda: NAMES,
)

__all__ = ["KIND"]

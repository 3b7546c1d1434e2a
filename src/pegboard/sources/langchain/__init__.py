"""The source kind for LangChain tools."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.langchain.config import LangChainConfig
from pegboard.sources.langchain.source import open_langchain

KIND = SourceKind(
    kind="langchain",
    title="LangChain tools",
    config=LangChainConfig,
    open=open_langchain,
    extra="langchain",
)

__all__ = ["KIND"]

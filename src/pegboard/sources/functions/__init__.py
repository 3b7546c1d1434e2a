"""Python functions as tools: from modules, files and single objects."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.functions.config import FunctionsConfig
from pegboard.sources.functions.source import open_functions

KIND = SourceKind(
    kind="functions",
    title="Python functions",
    config=FunctionsConfig,
    open=open_functions,
)

__all__ = ["KIND"]

"""Scripts of any language: described in a file beside them or in a comment of theirs."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.source import open_scripts

KIND = SourceKind(
    kind="script",
    title="Scripts",
    config=ScriptConfig,
    open=open_scripts,
)

__all__ = ["KIND"]

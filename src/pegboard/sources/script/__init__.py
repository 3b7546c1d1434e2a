"""The source kind for scripts of any language, described beside the file or in a comment block."""

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

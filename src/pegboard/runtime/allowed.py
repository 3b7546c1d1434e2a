"""What tools that are registered by API may run: what the board file names, and nothing else.

Who may call the API may not thereby run code of this machine: an import and a script run only when
the operator has named them. Requests go through the guarded client, and tools of other servers are
called under their own rules, so that neither needs a permission here.
"""

from fnmatch import fnmatchcase
from pathlib import Path

from pegboard.runtime.board import CatalogueEntry, ToolEntry


def refused(entry: ToolEntry, allowed: CatalogueEntry, base_dir: Path) -> str:
    """Why an entry may not run, and what the operator would write; empty when it may."""
    if entry.import_ and entry.type in {"PythonFunction", "LangChainTool"}:
        if any(fnmatchcase(entry.import_, glob) for glob in allowed.imports):
            return ""
        return (
            f"the operator does not allow the import '{entry.import_}': it would have to stand "
            "in board.yaml under 'catalogue: {imports: [...]}'"
        )
    if entry.script_path and entry.type == "LocalScript":
        if _is_below(entry.script_path, allowed.scripts, base_dir):
            return ""
        return (
            f"the operator does not allow the script '{entry.script_path}': its folder would have "
            "to stand in board.yaml under 'catalogue: {scripts: [...]}'"
        )
    return ""


def _is_below(script: str, folders: tuple[str, ...], base_dir: Path) -> bool:
    try:
        path = (base_dir / script).resolve()
        return any(path.is_relative_to((base_dir / folder).resolve()) for folder in folders)
    except (OSError, ValueError):  # a loop of links, or a name with a NUL
        return False

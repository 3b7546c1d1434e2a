"""What a framework's message keeps of a result beside its content."""

from typing import Any

from pegboard.core.result import ToolResult


def result_details(result: ToolResult) -> dict[str, Any]:
    """The handles of a stored result and of its files; empty where nothing was stored.

    `handle` reads the further pages of a large result, or stands for it as an argument of another
    tool; `total_bytes` is the size of the whole. `artifacts` has name, media type, handle and size
    of each file.
    """
    details: dict[str, Any] = {}
    if result.meta.truncated:
        details = {"handle": result.meta.handle, "total_bytes": result.meta.total_bytes}
    if result.artifacts:
        details["artifacts"] = result.to_dict()["artifacts"]
    return details

"""Takes the quotes of a deleted document out of conversations, runs, and what was kept of calls."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import structs

from pegboard.core.ports.conversation_store import Exchange
from pegboard.features.knowledge.evidence import blank_citation

if TYPE_CHECKING:
    from pegboard.storage import Storage

_GONE = "(What this call has found is gone: a document that it quotes was deleted.)"


async def forget_quotes(storage: "Storage", subject: str, document: str) -> int:
    """Take the quotes of a document out of a conversation, or of a run; how many answers changed.

    Answers keep their own words. The runs that read the document are deleted once they have ended.

    Args:
        storage: Stores both.
        subject: The id of a conversation or a run.
        document: The id of the document.
    """
    changed = 0
    for exchange in await storage.conversations.exchanges(subject):
        blanked = _blank(exchange, document)
        if blanked != exchange and await storage.conversations.rewrite(blanked):
            changed += 1
        await storage.runs.forget_run(exchange.run_id)
    await storage.runs.forget_run(subject)
    return changed


def _blank(exchange: Exchange, document: str) -> Exchange:
    gone = {it.number for it in exchange.citations if it.document == document}
    return structs.replace(
        exchange,
        messages=tuple(_blank_message(message, document) for message in exchange.messages),
        citations=tuple(blank_citation(it, document) for it in exchange.citations),
        conflicts=tuple(it for it in exchange.conflicts if not {it.first, it.second} & gone),
    )


def _blank_message(message: Mapping[str, Any], document: str) -> Mapping[str, Any]:
    if message.get("role") != "tool" or document not in str(message.get("text", "")):
        return message
    return {**message, "text": _GONE}

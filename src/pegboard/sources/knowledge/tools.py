"""The tools that ask knowledge bases; their names are reserved for them."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.knowledge.bases import KnowledgeBases, KnowledgeReply
from pegboard.core.principal import Principal
from pegboard.core.result import ResultMeta, ToolResult
from pegboard.core.tool import Effect, JsonSchema, ToolSpec
from pegboard.core.wire_names import wire_name

NAMES = ("kb_retrieve", "grounded_retrieve", "kb_list", "kb_open", "kb_grep", "kb_around")
_Ask = Callable[[Mapping[str, Any], ToolContext[Any]], Awaitable[KnowledgeReply]]

_QUESTION = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4000,
    "description": "What to look for, in full words; best the question of the person.",
}
_BASES = {
    "type": "array",
    "items": {"type": "string"},
    "maxItems": 100,
    "description": "Names of the bases to search; all by default.",
}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": 50, "default": 8, "description": "At most."}
_DOCUMENT = {"type": "string", "description": "The id of a document, as kb_retrieve names it."}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 20, "default": 1}
_OUTPUT = {"type": "object", "additionalProperties": True}


class KnowledgeTool:
    """A tool that asks knowledge bases.

    Args:
        spec: What it is.
        ask: Asks.
        bases: Knows which ones a caller may see.
    """

    def __init__(self, spec: ToolSpec, ask: _Ask, bases: KnowledgeBases) -> None:
        self.spec = spec
        self._ask = ask
        self._bases = bases

    def describe(self, principal: Principal) -> Mapping[str, str]:
        """The bases that a caller may see, with what can be asked of them, by name."""
        return self._bases.describe(principal)

    def in_source(self) -> "KnowledgeTool":
        """The same under the name of its source, and found by its plain name as well."""
        spec = self.spec
        named = spec.replace(name=wire_name(spec.source, spec.action), alias=spec.action)
        return KnowledgeTool(named, self._ask, self._bases)

    def bind(self, base: str) -> "KnowledgeTool":
        """The same for one base: it is no argument any more."""
        spec, ask = self.spec, self._ask
        schema = dict(spec.input_schema)
        schema["properties"] = {k: v for k, v in schema["properties"].items() if k != "bases"}

        async def ask_one(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> KnowledgeReply:
            return await ask({**arguments, "bases": [base]}, ctx)

        bound = spec.replace(name=wire_name(spec.source, spec.action), input_schema=schema)
        return KnowledgeTool(bound, ask_one, self._bases)

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> ToolResult:
        """Ask, for the caller of the call."""
        reply = await self._ask(arguments, ctx)
        meta = ResultMeta(tokens=reply.tokens, cost=reply.cost, model=reply.model)
        return ToolResult(content=reply.text, structured=dict(reply.data), meta=meta)


def list_names() -> tuple[str, ...]:
    """The plain names of the tools."""
    return NAMES


def make_tools(source: str, bases: KnowledgeBases) -> Iterator[KnowledgeTool]:
    """The tools of a source."""
    for name, description, schema, ask in _list_tools(bases):
        spec = ToolSpec(
            name=name,
            action=name,
            source=source,
            handler="knowledge",
            description=description,
            input_schema=schema,
            output_schema=_OUTPUT,
            category="knowledge",
            effect=Effect.READ,
            open_world=False,
            idempotent=True,
            trusted=False,
            max_result_bytes=0,  # bounded by its limit; a stored page would outlive the document
            tags=("knowledge", "documents"),
        )
        yield KnowledgeTool(spec, ask, bases)


def _list_tools(bases: KnowledgeBases) -> Iterator[tuple[str, str, JsonSchema, _Ask]]:
    search = {"question": _QUESTION, "bases": _BASES, "limit": _LIMIT}
    yield (
        "kb_retrieve",
        (
            "Find what documents of the knowledge bases say on a question: the best pieces, "
            "numbered, with their documents and pages. Cite them as [1] behind the sentences that "
            "they support."
        ),
        _object(search, "question"),
        lambda given, ctx: bases.retrieve(ctx=ctx, **given),
    )
    yield (
        "grounded_retrieve",
        (
            "Find checked quotes for a question in the knowledge bases, where they contradict each "
            "other, and whether they are enough for an answer. Cite them as [1]."
        ),
        _object(search, "question"),
        lambda given, ctx: bases.ground(ctx=ctx, **given),
    )
    yield (
        "kb_list",
        "List the knowledge bases: what their documents are about, and how many there are.",
        _object({}),
        lambda _given, ctx: bases.list(ctx),
    )
    page = {"type": "integer", "minimum": 1, "default": 1}
    yield (
        "kb_open",
        "Read pages of a document of a knowledge base.",
        _object(
            {
                "document": _DOCUMENT,
                "page": {**page, "description": "The first page."},
                "pages": {**page, "maximum": 20, "description": "How many."},
            },
            "document",
        ),
        lambda given, ctx: bases.open(ctx=ctx, **given),
    )
    yield (
        "kb_grep",
        "Find the places of a document of a knowledge base in which a text stands.",
        _object(
            {
                "document": _DOCUMENT,
                "pattern": {**_QUESTION, "description": "The text; upper and lower case alike."},
                "limit": {**_LIMIT, "default": 20},
            },
            "document",
            "pattern",
        ),
        lambda given, ctx: bases.grep(ctx=ctx, **given),
    )
    yield (
        "kb_around",
        "Read what stands before and after a piece of a document of a knowledge base.",
        _object(
            {
                "piece": {"type": "string", "description": "The id of a piece."},
                "before": {**_COUNT, "description": "Pieces before it."},
                "after": {**_COUNT, "description": "Pieces after it."},
            },
            "piece",
        ),
        lambda given, ctx: bases.around(ctx=ctx, **given),
    )


def _object(properties: Mapping[str, Any], *required: str) -> JsonSchema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }

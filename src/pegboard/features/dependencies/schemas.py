"""What requests and answers about the dependency graph look like."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid", frozen=True)
MAX_ITEMS = 20_000

NodeId = Annotated[str, Field(min_length=1, max_length=128)]
NewId = Annotated[NodeId, Field(pattern=r"^[^\u0000-\u001f\u007f-\u009f]+$")]
"""Of what is added: no control characters. What is there can be removed, whatever its name."""

Nodes = Annotated[list[NodeId], Field(max_length=MAX_ITEMS)]
NewNodes = Annotated[list[NewId], Field(max_length=MAX_ITEMS)]
Edges = Annotated[
    list[Annotated[list[NodeId], Field(min_length=2, max_length=2)]], Field(max_length=MAX_ITEMS)
]
NewEdges = Annotated[
    list[Annotated[list[NewId], Field(min_length=2, max_length=2)]], Field(max_length=MAX_ITEMS)
]


class GraphUpdateBody(BaseModel):
    """What is to be done, all of it or nothing; removals come before additions."""

    model_config = _CLOSED

    add_nodes: Annotated[NewNodes, Field(description="Tools, by id or name.")] = Field(
        default_factory=list[str]
    )
    remove_nodes: Annotated[Nodes, Field(description="Taken out with all their edges.")] = Field(
        default_factory=list[str]
    )
    add_edges: Annotated[
        NewEdges, Field(description="`[prerequisite, dependant]`; both are there or are added too.")
    ] = Field(default_factory=list[list[str]])
    remove_edges: Annotated[Edges, Field(description="Whoever said them.")] = Field(
        default_factory=list[list[str]]
    )


class GraphNode(BaseModel):
    """A tool of the graph."""

    model_config = _CLOSED

    id: str
    name: Annotated[str, Field(description="Wire name; empty when there is no such tool now.")]
    is_missing: Annotated[bool, Field(description="Something needs it, and it is not there.")]
    origins: Annotated[list[str], Field(description="Who says it: `spec`, `board`, `api`, ...")]


class GraphEdge(BaseModel):
    """A prerequisite and what depends on it."""

    model_config = _CLOSED

    prerequisite: str
    dependant: str
    origins: list[str]


class DependencyGraphAnswer(BaseModel):
    """One version of the graph, or a part of it."""

    model_config = _CLOSED

    version: int
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    layers: Annotated[
        list[list[str]],
        Field(description="Tools of one layer do not need each other; each comes after its needs."),
    ]


class BrokenTool(BaseModel):
    """A tool that no longer works when another fails."""

    model_config = _CLOSED

    tool: str
    name: Annotated[str, Field(description="Wire name; empty when there is no such tool now.")]
    because: Annotated[str, Field(description="Which of those that it needs is gone or broken.")]


class StandIn(BaseModel):
    """A tool that would take the place of one that fails, without a doubt."""

    model_config = _CLOSED

    tool: Annotated[str, Field(description="What fails.")]
    by: Annotated[str, Field(description="What would take its place.")]
    name: Annotated[str, Field(description="Wire name of the latter.")]


class BreaksAnswer(BaseModel):
    """What no longer works when a tool fails."""

    model_config = _CLOSED

    version: int
    tool: str
    breaks: Annotated[list[BrokenTool], Field(description="The nearest first.")]
    stand_ins: list[StandIn]


class OriginChange(BaseModel):
    """An edge of both versions that others say now."""

    model_config = _CLOSED

    prerequisite: str
    dependant: str
    before: list[str]
    after: list[str]


class GraphDiffAnswer(BaseModel):
    """How one version of the graph differs from another."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    from_: Annotated[int, Field(alias="from")]
    to: int
    added_nodes: list[str]
    removed_nodes: list[str]
    added_edges: list[list[str]]
    removed_edges: list[list[str]]
    changed_origins: list[OriginChange]

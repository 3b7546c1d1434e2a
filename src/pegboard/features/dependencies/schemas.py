"""Requests and responses about the dependency graph."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid", frozen=True)
MAX_ITEMS = 20_000

NodeId = Annotated[str, Field(min_length=1, max_length=128)]
NewId = Annotated[NodeId, Field(pattern=r"^[^\u0000-\u001f\u007f-\u009f]+$")]
"""Pattern of added names: no control characters. Any existing name can be removed."""

Nodes = Annotated[list[NodeId], Field(max_length=MAX_ITEMS)]
NewNodes = Annotated[list[NewId], Field(max_length=MAX_ITEMS)]
Edges = Annotated[
    list[Annotated[list[NodeId], Field(min_length=2, max_length=2)]], Field(max_length=MAX_ITEMS)
]
NewEdges = Annotated[
    list[Annotated[list[NewId], Field(min_length=2, max_length=2)]], Field(max_length=MAX_ITEMS)
]


class GraphUpdateBody(BaseModel):
    """A change that is applied completely or not at all; removals come before additions."""

    model_config = _CLOSED

    add_nodes: Annotated[NewNodes, Field(description="Tools, by id or name.")] = Field(
        default_factory=list[str]
    )
    remove_nodes: Annotated[Nodes, Field(description="Removed with all their edges.")] = Field(
        default_factory=list[str]
    )
    add_edges: Annotated[
        NewEdges, Field(description="`[prerequisite, dependant]`; both exist or are added too.")
    ] = Field(default_factory=list[list[str]])
    remove_edges: Annotated[Edges, Field(description="Whatever their origin.")] = Field(
        default_factory=list[list[str]]
    )


class GraphNode(BaseModel):
    """A tool of the graph."""

    model_config = _CLOSED

    id: str
    name: Annotated[str, Field(description="Wire name; empty if there is no such tool.")]
    is_missing: Annotated[bool, Field(description="Whether it is needed but does not exist.")]
    origins: Annotated[list[str], Field(description="Who declared it: `spec`, `board`, `api`, ...")]


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
        Field(
            description="Tools of one layer do not need each other; a tool comes after its needs."
        ),
    ]


class BrokenTool(BaseModel):
    """A tool that no longer works when another fails."""

    model_config = _CLOSED

    tool: str
    name: Annotated[str, Field(description="Wire name; empty if there is no such tool.")]
    because: Annotated[str, Field(description="The tool it needs that is missing or broken.")]


class StandIn(BaseModel):
    """A substitute for a tool that fails."""

    model_config = _CLOSED

    tool: Annotated[str, Field(description="The tool that fails.")]
    by: Annotated[str, Field(description="Its substitute.")]
    name: Annotated[str, Field(description="Wire name of the substitute.")]


class BreaksAnswer(BaseModel):
    """What no longer works when a tool fails."""

    model_config = _CLOSED

    version: int
    tool: str
    breaks: Annotated[list[BrokenTool], Field(description="Nearest first.")]
    stand_ins: list[StandIn]


class OriginChange(BaseModel):
    """An edge of both versions whose origins differ."""

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

"""Facts about runs of graphs.

A play tells `RunStarted`, `NodeChanged`, `RunRested` and `RunFinished`, and a run that is played
again tells again what it did before. `StepEnded` and `RunEnded` are told once, when it is kept.
"""

from msgspec import Struct


class RunStarted(Struct, frozen=True, kw_only=True):
    """A run of a graph is being played; told again when it is taken up after a crash or a wait.

    Attributes:
        graph: The id of the graph, or its name.
        parent_id: The call or the run that started it; empty for none.
        started_at: Unix seconds; when it was started first.
    """

    run_id: str
    graph: str
    principal: str
    tenant: str
    started_at: float
    parent_id: str = ""


class NodeChanged(Struct, frozen=True, kw_only=True):
    """A node of a run, or a part of one, is in another state.

    Attributes:
        node: Its path in the run: `fetch`, `each[2]`, `inner/fetch`.
        state: One of `NodeState`.
        at: Unix seconds.
        started_at: When it really began, of one that has ended; 0 for what never did.
        reason: Why it was skipped, cancelled, or waits.
        instead_of: The tool of the graph that `tool` stood in for; empty for none.
        replayed: It was so in an earlier play of this run, and is told again.
    """

    run_id: str
    node: str
    state: str
    at: float
    tool: str = ""
    attempts: int = 0
    started_at: float = 0.0
    duration_ms: float = 0.0
    error_code: str = ""
    reason: str = ""
    instead_of: str = ""
    replayed: bool = False


class RunRested(Struct, frozen=True, kw_only=True):
    """A run only waits from here on and holds nothing; `RunStarted` is told when it goes on.

    Attributes:
        state: `waiting` or `paused`.
        at: Unix seconds.
    """

    run_id: str
    graph: str
    state: str
    at: float


class RunFinished(Struct, frozen=True, kw_only=True):
    """A run of a graph has ended.

    Attributes:
        state: `completed`, `failed` or `cancelled`.
        nodes: How many nodes were completed.
    """

    run_id: str
    graph: str
    state: str
    started_at: float
    duration_ms: float
    nodes: int = 0
    error_code: str = ""


class StepEnded(Struct, frozen=True, kw_only=True):
    """A node of a run, or a part of one, has ended: told once, however often the run is played.

    Attributes:
        step: Its path in the run: `fetch`, `each[2]`, `inner/fetch`.
        state: `completed`, `failed`, `skipped` or `cancelled`.
        at: Unix seconds.
        tool: Which tool answered; empty where none was called.
        instead_of: The tool of the graph that it stood in for; empty for none.
    """

    run_id: str
    step: str
    state: str
    at: float
    tool: str = ""
    attempts: int = 0
    duration_ms: float = 0.0
    error_code: str = ""
    reason: str = ""
    instead_of: str = ""


class RunEnded(Struct, frozen=True, kw_only=True):
    """A run has ended: told once, however often it is played.

    Attributes:
        state: `completed`, `failed` or `cancelled`.
        at: Unix seconds.
        duration_ms: From its start, with all that it has waited.
        steps: How many nodes were completed.
    """

    run_id: str
    graph: str
    state: str
    at: float
    duration_ms: float = 0.0
    steps: int = 0
    error_code: str = ""

"""Events of graph runs.

Each attempt emits `RunStarted`, `NodeChanged`, `RunRested` and `RunFinished`, and a replay emits
them again. `StepEnded` and `RunEnded` are emitted once, when the outcome is stored, and
`RunErrorNoted` when the exception is raised.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class RunStarted(Struct, frozen=True, kw_only=True):
    """An attempt of a run has started; emitted again after a crash or a suspension.

    Attributes:
        graph: The id of the graph, or its name.
        parent_id: The call or the run that started it; empty for none.
        started_at: Unix seconds of the first attempt.
    """

    run_id: str
    graph: str
    principal: str
    tenant: str
    started_at: float
    parent_id: str = ""


class NodeChanged(Struct, frozen=True, kw_only=True):
    """A node of a run, or a part of one, has changed its state.

    Attributes:
        node: Its path in the run: `fetch`, `each[2]`, `inner/fetch`.
        state: One of `NodeState`.
        at: Unix seconds.
        started_at: When a finished one started; 0 when it never did.
        reason: Why it was skipped, cancelled, or waits.
        instead_of: The tool of the graph that `tool` substituted; empty for none.
        replayed: Emitted by an earlier attempt of this run already.
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


class NodeReported(Struct, frozen=True, kw_only=True):
    """Something that happened in a node while it was executed; emitted once.

    Attributes:
        node: Its path in the run.
        kind: `text_delta`, `tool_started`, `usage`, ...; listeners ignore kinds that they do not
            know.
        at: Unix seconds.
        data: JSON-compatible data; never a secret.
    """

    run_id: str
    node: str
    kind: str
    at: float
    data: Mapping[str, Any] = {}


class RunRested(Struct, frozen=True, kw_only=True):
    """A run is suspended and holds no resources; `RunStarted` is emitted when it continues.

    Attributes:
        state: `waiting` or `paused`.
        at: Unix seconds.
    """

    run_id: str
    graph: str
    state: str
    at: float


class RunFinished(Struct, frozen=True, kw_only=True):
    """An attempt has finished a run.

    Attributes:
        state: `completed`, `failed` or `cancelled`.
        nodes: The number of completed nodes.
    """

    run_id: str
    graph: str
    state: str
    started_at: float
    duration_ms: float
    nodes: int = 0
    error_code: str = ""


RUN_ERROR_IDS = "e_r"
"""What the ids of errors of runs begin with; those of calls have no `r`."""


class RunErrorNoted(Struct, frozen=True, kw_only=True):
    """A run, or a step of it, has failed with an exception of which its caller sees the id alone.

    Attributes:
        error_id: Begins with `RUN_ERROR_IDS`.
        step: The path of the step; empty for the run itself.
        at: Unix seconds.
        code: Of the error that the caller sees.
        message: Its text.
        detail: For the operator only: type, text and stack of the exception.
    """

    error_id: str
    run_id: str
    at: float
    code: str
    message: str
    detail: str
    step: str = ""


class StepEnded(Struct, frozen=True, kw_only=True):
    """A node of a run, or a part of one, has finished; emitted once, whatever the attempts.

    Attributes:
        step: Its path in the run: `fetch`, `each[2]`, `inner/fetch`.
        state: `completed`, `failed`, `skipped` or `cancelled`.
        at: Unix seconds.
        tool: The tool that answered; empty when none was called.
        instead_of: The tool of the graph that `tool` substituted; empty for none.
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
    """A run has finished; emitted once, whatever the attempts.

    Attributes:
        state: `completed`, `failed` or `cancelled`.
        at: Unix seconds.
        duration_ms: From its start, waits included.
        steps: The number of completed nodes.
    """

    run_id: str
    graph: str
    state: str
    at: float
    duration_ms: float = 0.0
    steps: int = 0
    error_code: str = ""

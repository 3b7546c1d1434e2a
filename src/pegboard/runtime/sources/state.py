"""The state of one source of a board."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.access import Switches
from pegboard.core.ports.clock import Clock
from pegboard.core.ports.source import ProblemReporter, Source, SourceKind
from pegboard.core.resources_and_prompts import Prompt, Resource
from pegboard.core.tool import Tool
from pegboard.registry.health import why_unavailable, with_switches

_NOTHING_OFF = Switches()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """The kind and the checked configuration of a source.

    Attributes:
        trusted: Whether its results are trusted; None where its tools say it themselves.
    """

    kind: SourceKind
    config: Any
    trusted: bool | None = None


class SourceState:
    """One source of a board and its state.

    Args:
        name: Its name.
        kind: Its kind.
        title: Its kind, for people.
        status: `failed` for one that cannot even be opened.
        reason: Why.
        opener: What opens it; None for one that cannot be opened.

    Attributes:
        status: `pending` (it has not answered yet), `ok`, `degraded` (listing fails, the last known
            tools stay) or `failed`.
        tools: Its tools on the board.
        refreshed_at: When its tools were listed last, in Unix seconds; None for never.
        is_logged: Whether the log says more than the reason.
        resources: Its resources as listed last.
        prompts: As well.
        held: How many definitions, changed ones and those of new tools, wait for approval.
        listed: Set as soon as it is known which tools it has, or that they cannot be known now.
        settled: Set when its resources and prompts are known too.
        wanted: Set when the source is requested, where it is opened on demand.
        relist: Set when the source reports a change.
        turn: The lock for opening and listing it.
    """

    def __init__(
        self,
        *,
        name: str,
        kind: str,
        title: str = "",
        status: str = "pending",
        reason: str = "",
        opener: Opener | None = None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.title = title
        self.status = status
        self.opener = opener
        self.tools: tuple[Tool, ...] = ()
        self.resources: Sequence[Resource] = ()
        self.prompts: Sequence[Prompt] = ()
        self.held = 0
        self.refreshed_at: float | None = None
        self.is_logged = False
        self.source: Source | None = None
        self.listed, self.settled = asyncio.Event(), asyncio.Event()
        self.wanted, self.relist = asyncio.Event(), asyncio.Event()
        self.turn = asyncio.Lock()
        self._reason = reason
        self._asked: tuple[Clock, float] | None = None
        if status != "pending":
            self.mark_answered()

    def describe(self) -> str:
        """The status and its reason, after a name: `failed: no answer`, `is pending: ...`."""
        return f"{'failed' if self.status == 'failed' else f'is {self.status}'}: {self.reason}"

    @property
    def reason(self) -> str:
        """What is wrong and what to do; empty when the source is fine."""
        if self.status != "pending":
            return self._reason
        if self._asked is None:
            return "it is opened on demand, and none of its tools has been requested yet"
        clock, at = self._asked
        return (
            f"no answer yet after {clock.monotonic() - at:.0f} s; its tools appear when it answers"
        )

    @reason.setter
    def reason(self, reason: str) -> None:
        self._reason = reason

    def unavailable(self, *, switches: Switches) -> Counter[str]:
        """The reasons why tools are unavailable, with the number of tools for each."""
        reasons = (why_unavailable(with_switches(tool.spec, switches)) for tool in self.tools)
        return Counter(reason for reason in reasons if reason)

    @property
    def problems(self) -> str:
        """What its last listing left out, with the reason; empty for nothing."""
        source = self.source
        return " ".join(source.problems) if isinstance(source, ProblemReporter) else ""

    def mark_asked(self, clock: Clock) -> None:
        """Record that the source is being opened for the first time."""
        self._asked = (clock, clock.monotonic())

    def mark_answered(self) -> None:
        """Release everything that waits for the source."""
        self.listed.set()
        self.settled.set()

    def to_dict(self, *, switches: Switches = _NOTHING_OFF) -> dict[str, Any]:
        """As JSON-compatible data, with the most frequent reasons first.

        Args:
            switches: Kill switches; their reason comes first.
        """
        unavailable, off = self.unavailable(switches=switches), switches.why_source(self.name)
        reasons = (f"is turned off: {off}" if off else "", self.reason)
        return {
            "name": self.name,
            "kind": self.kind,
            "title": self.title,
            "status": self.status,
            "reason": "; ".join(filter(None, reasons)),
            "tools": len(self.tools),
            "held": self.held,
            "refreshed_at": self.refreshed_at,
            "unavailable": unavailable.total(),
            "unavailable_reasons": [reason for reason, _ in unavailable.most_common()],
            "takes_accounts": any(tool.spec.caller_credential for tool in self.tools),
        }

"""Ends the runs of an account that was disabled, or of a key that was revoked."""

import logging

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.graph import NodeState
from pegboard.core.ports.run_store import RunQuery, RunStore, StoredRun
from pegboard.core.principal import Principal
from pegboard.features.runs.service import Runs

_LOG = logging.getLogger("pegboard.runs")
_PAGE = 200
_UNFINISHED = (
    NodeState.PENDING,
    NodeState.IN_PROGRESS,
    NodeState.WAITING,
    NodeState.PAUSED,
)


class RunsOfAccounts:
    """Cancels runs of accounts that may not go on.

    Args:
        store: Stores runs.
        runs: Cancels them.
    """

    def __init__(self, store: RunStore, runs: Runs) -> None:
        self._store = store
        self._runs = runs

    async def cancel(self, user: str, key: str, by: Principal) -> None:
        """Cancel the unfinished runs of an account, wherever they are executed.

        One that cannot be cancelled now ends with its next step, which is refused.

        Args:
            user: The id of the account.
            key: The id of the key with which they were started; empty for all.
            by: Who has ended the account or the key.
        """
        for state in _UNFINISHED:
            for run in await self._list(user, state):
                if key not in {"", run.start.principal.key}:
                    continue
                run_id = run.start.run_id
                with log_and_continue(_LOG, f"runs: {run_id} could not be cancelled"):
                    await self._runs.end(run, by=by)

    async def _list(self, user: str, state: NodeState) -> list[StoredRun]:
        found: list[StoredRun] = []
        cursor = ""
        while True:
            query = RunQuery(state=state, principal=user, limit=_PAGE, cursor=cursor)
            page = await self._store.runs(query)
            found += [run for run in page.runs if run.start.principal.user == user]
            if not (cursor := page.next_cursor):
                return found

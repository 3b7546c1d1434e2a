"""People who are asked by a run that is another caller's: they see its question and answer it."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace

from msgspec import structs

from pegboard.core.graph import Graph
from pegboard.core.ports.accounts.identity_store import IdentityStore
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import Principal, expand_id
from pegboard.core.run import PendingStep
from pegboard.features.runs.views import RunView

FindNames = Callable[[Principal], Awaitable[Collection[str]]]
"""Returns the names by which a graph may ask a caller."""


async def find_names(store: IdentityStore, principal: Principal) -> frozenset[str]:
    """The names by which a graph may ask a caller.

    An account is asked by its id, handle, e-mail address, or a role as `organisation/role`.
    """
    if not principal.user:
        return frozenset(expand_id(principal.id))
    user = await store.user(principal.user)
    names = {principal.user, *principal.roles}
    return frozenset(names if user is None else {*names, user.handle, user.email} - {""})


def find_questions_to(
    run: StoredRun,
    pending: Collection[PendingStep],
    principal: Principal,
    names: Collection[str],
) -> tuple[PendingStep, ...]:
    """What a run waits for that is asked of a caller by one of its names.

    A run asks those whom its own caller may see: an account the members of its organisations, an
    operator all. The names of callers without an account are unique in their tenant only.
    """
    if not _may_ask(run.start.principal, principal):
        return ()
    return tuple(item for item in pending if item.kind == "person" and item.assignee in names)


def _may_ask(asker: Principal, principal: Principal) -> bool:
    if not principal.user:
        return principal.tenant == asker.tenant
    is_known = not asker.organisations.isdisjoint(principal.organisations)
    return is_known or asker.is_operator or asker.user == principal.user


def show_questions(view: RunView, pending: Collection[PendingStep]) -> RunView:
    """A run as those see it who are asked by it: its name and their questions."""
    start = structs.replace(view.run.start, params={}, graph={}, env={})
    result = structs.replace(view.result, nodes=(), output=None, error=None, pending=tuple(pending))
    graph = Graph(nodes=(), name=view.graph.name, id=view.graph.id)
    run = structs.replace(view.run, start=start, result=result)
    return replace(view, run=run, graph=graph, result=result, waits=(), takeovers=(), questions=())

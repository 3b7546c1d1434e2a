"""Operators say who may have the server fetch web addresses."""

import pytest

from pegboard import Pegboard
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.knowledge import NewBase
from pegboard.features.knowledge.bases import (
    DeclaredBase,
    DocumentSource,
    KnowledgeBase,
    WebPolicy,
    check_may_gather,
)
from pegboard.features.knowledge.document_sources import gather_graph
from pegboard.runtime import Settings

URL = "http://127.0.0.1:9/"
ADA = Principal(id="ada")
WANTED = DocumentSource(base="k_1", url=URL)


BASE = KnowledgeBase(id="k_1", name="handbook")


@pytest.mark.parametrize(("caller", "web"), [(ADA, "members"), (LOCAL, "operators")])
def test_an_address_is_added_by_those_who_may(caller: Principal, web: WebPolicy) -> None:
    check_may_gather(caller, BASE, WANTED, web=web)


@pytest.mark.parametrize(("caller", "web"), [(ADA, "operators"), (ADA, "off"), (LOCAL, "off")])
def test_an_address_is_refused_to_others(caller: Principal, web: WebPolicy) -> None:
    with pytest.raises(AccessDenied, match="PEGBOARD_KNOWLEDGE_WEB"):
        check_may_gather(caller, BASE, WANTED, web=web)


def test_the_address_of_the_board_file_is_always_fetched() -> None:
    base = KnowledgeBase(id="k_1", name="site", declared=DeclaredBase(name="site", url=URL))

    check_may_gather(ADA, base, WANTED, web="off")
    with pytest.raises(AccessDenied):
        check_may_gather(ADA, base, DocumentSource(base="k_1", url=f"{URL}other"), web="off")


async def test_a_server_that_takes_in_no_addresses_fetches_none_by_any_graph() -> None:
    async with Pegboard(settings=Settings(knowledge_web="off")) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        wanted = DocumentSource(base=base.id, url=URL)
        with pytest.raises(AccessDenied, match="does not take in web addresses"):
            await board.knowledge.gather(base, wanted, principal=LOCAL)
        run = await board.runs.start_graph(gather_graph(wanted), principal=LOCAL)
        ended = await board.runs.wait(run.id, principal=LOCAL)
        (view,) = await board.knowledge.view_bases([base], principal=LOCAL)

    assert ended.run.state == "failed"
    assert "PEGBOARD_KNOWLEDGE_WEB" in str(ended.result.error)
    assert (view["may_change"], view["may_add_web"]) == (True, False)

"""Each caller's files are its own, unless somebody names a folder for several."""

from pathlib import Path

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.runtime import Pegboard
from pegboard.sources.builtin.tools.file_read import file_read
from pegboard.sources.builtin.tools.file_write import file_write
from pegboard.sources.builtin.workspaces import workspace_of


def test_on_a_board_each_caller_has_a_folder_that_stays_and_is_no_others(tmp_path: Path) -> None:
    board = Services(workspaces=tmp_path)
    callers = [
        Principal(id="ann"),
        Principal(id="bob"),
        Principal(id="ann", tenant="other"),
        Principal(id="ANN"),
        Principal(id="../ann"),
    ]
    contexts = [ToolContext(deps=board, principal=caller) for caller in callers]

    for number, ctx in enumerate(contexts):
        file_write("a.txt", str(number), ctx)

    assert [file_read("a.txt", ctx).content for ctx in contexts] == ["0", "1", "2", "3", "4"]
    folders = sorted(path.parent.name.rpartition("-")[0] for path in tmp_path.glob("*/a.txt"))
    assert folders == ["ANN", "_ann", "ann", "ann", "bob"]


def test_a_named_workspace_comes_before_a_folder_of_ones_own(tmp_path: Path) -> None:
    board = Services(workspaces=tmp_path / "each", workspace=tmp_path / "shared")
    ann: ToolContext[Services] = ToolContext(deps=board, principal=Principal(id="ann"))
    bob = ToolContext(deps=board, principal=Principal(id="bob"))

    file_write("a.txt", "ann's", ann)

    assert file_read("a.txt", bob).content == "ann's"
    assert not (tmp_path / "each").exists()


def test_the_workspace_of_a_conversation_yields_to_the_operators(tmp_path: Path) -> None:
    board = Services(workspaces=tmp_path / "each")
    named = Services(workspaces=tmp_path / "each", workspace=tmp_path / "shared")
    own = tmp_path / "own"

    def found(services: Services, *, yields: bool) -> str:
        ctx = ToolContext(deps=services, workspace=own, workspace_yields=yields)
        return workspace_of(ctx).name

    assert found(board, yields=True) == "own"
    assert found(named, yields=True) == "shared"
    assert found(named, yields=False) == "own"


async def test_callers_of_a_board_do_not_see_each_others_files(tmp_path: Path) -> None:
    board = tmp_path / "board.yaml"
    board.write_text("sources: [{kind: builtin, name: std}]\n")
    ann = ToolContext(principal=Principal(id="ann"))
    bob = ToolContext(principal=Principal(id="bob"))

    async with Pegboard(board, data=tmp_path / "data") as opened:
        written = {"path": "a.txt", "content": "ann's"}
        (await opened.registry.call("std__file_write", written, ann)).unwrap()
        of_ann = await opened.registry.call("std__file_read", {"path": "a.txt"}, ann)
        of_bob = await opened.registry.call("std__file_read", {"path": "a.txt"}, bob)

    assert of_ann.content == "ann's"
    assert of_bob.is_error
    assert len(list((tmp_path / "data" / "workspace").glob("ann-*/a.txt"))) == 1

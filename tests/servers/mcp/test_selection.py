"""Which part of a board is served, and how it is named."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.runtime.slow import silent_port

from pegboard.core.principal import LOCAL
from pegboard.core.tool import AGENT, ToolSpec
from pegboard.errors import InvalidRequest
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.mcp.selection import (
    WHOLE_BOARD,
    BoardSelection,
    check_globs,
    check_selection,
    unknown_source,
)


def spec(name: str, *, source: str = "", category: str = "general", action: str = "") -> ToolSpec:
    return ToolSpec(
        name=name,
        description="",
        input_schema={},
        source=source,
        category=category,
        action=action,
    )


FIND = spec("shop__find", source="shop", category="database", action="find")
FETCH = spec("std__web_fetch", source="std", category="web", action="web_fetch")


@pytest.mark.parametrize(
    ("selection", "has"),
    [
        (WHOLE_BOARD, (True, True)),
        (BoardSelection(only=("shop__*",)), (True, False)),
        (BoardSelection(only=("std__*", "shop__*")), (True, True)),
        (BoardSelection(sources=("std",)), (False, True)),
        (BoardSelection(categories=("database",)), (True, False)),
        (BoardSelection(exclude=("*__find",)), (False, True)),
        (BoardSelection(own="shop"), (True, False)),
        (BoardSelection(own="shop", exclude=("shop__find",)), (False, False)),
    ],
)
def test_a_part_is_what_all_its_choices_leave(
    selection: BoardSelection, has: tuple[bool, bool]
) -> None:
    assert (selection.has(FIND), selection.has(FETCH)) == has


@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        (FIND, "find"),
        (spec("shop__find", source="shop"), "find"),
        (spec("shop__a_b_x00000000", source="shop", action="a b"), "shop__a_b_x00000000"),
    ],
    ids=["by its action", "by its name", "no name for MCP"],
)
def test_a_source_served_as_itself_has_its_own_names(tool: ToolSpec, shown: str) -> None:
    selection = BoardSelection(own="shop")

    assert selection.client_name(tool) == shown
    assert selection.board_name(shown) == tool.name


def test_an_agent_is_in_no_selection() -> None:
    agent = spec("helper").replace(handler=AGENT)

    assert WHOLE_BOARD.has(spec("helper"))
    assert not WHOLE_BOARD.has(agent)


def test_the_whole_board_has_the_names_of_the_board() -> None:
    assert WHOLE_BOARD.client_name(FIND) == WHOLE_BOARD.board_name("shop__find") == "shop__find"
    assert WHOLE_BOARD.client_uri("board://shop/docs://a") == "board://shop/docs://a"
    assert WHOLE_BOARD.board_uri("docs://a") == "docs://a"


def test_a_source_served_as_itself_has_its_own_uris() -> None:
    selection = BoardSelection(own="shop")

    assert selection.board_uri("docs://a") == "board://shop/docs://a"
    assert selection.client_uri("board://shop/docs://a") == "docs://a"
    assert selection.client_uri("board://std/docs://a") == "board://std/docs://a"
    assert selection.board_name("") == ""


def test_an_address_names_a_part() -> None:
    given = {"only": ["a*", "b*"], "source": ["shop"], "category": ["web"], "exclude": ["*x"]}
    given |= {"list": ["", "c*"]}

    assert BoardSelection.of_query(given, own="shop") == BoardSelection(
        only=("a*", "b*"),
        sources=("shop",),
        categories=("web",),
        exclude=("*x",),
        own="shop",
        listed=("", "c*"),
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [({"sources": ["a"]}, "no parameter 'sources'; known are only"), ({"only": ["a"] * 51}, "50")],
)
def test_an_address_that_says_something_else_is_refused(
    given: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        BoardSelection.of_query(given)


BOARD = """
sources:
  - {kind: builtin, name: std}
  - {kind: functions, name: shop, config: {modules: [no_such_module]}}
tools:
  - {tool_id: legacy__greet, type: RestAPI, url: "https://example.com/", method: GET}
"""


def a_board(folder: Path, text: str = BOARD) -> Pegboard:
    file = folder / "board.yaml"
    file.write_text(text)
    return Pegboard(settings=Settings(board=file, reload="off"))


@pytest.mark.parametrize(
    "selection",
    [
        WHOLE_BOARD,
        BoardSelection(sources=("std", "shop"), own="shop"),
        BoardSelection(only=("std__*", "*greet", "greet"), exclude=("shop__x", "s*__y")),
        BoardSelection(only=("board__*", "legacy__greet")),
        BoardSelection(categories=("nothing",)),
    ],
    ids=["whole", "failed", "globs", "of no source", "category"],
)
async def test_a_part_of_what_the_board_has_is_served(
    tmp_path: Path, selection: BoardSelection
) -> None:
    async with a_board(tmp_path) as board:
        check_selection(selection, board, principal=LOCAL)


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (
            BoardSelection(sources=("std", "shopp")),
            "no source 'shopp' on the board; did you mean 'shop'?",
        ),
        (BoardSelection(own="stdd"), "There is no source 'stdd' on the board; did you mean 'std'?"),
        (
            BoardSelection(sources=("board",)),
            "There is no source 'board' on the board; it has shop, std.",
        ),
        (
            BoardSelection(only=("std__*", "shpo__*")),
            "no source 'shpo' on the board; did you mean 'shop'?",
        ),
        (BoardSelection(exclude=("x__delete",)), "no source 'x' on the board; it has shop, std."),
        (BoardSelection(sources=("x" * 999,)), f"'{'x' * 100}…' on the board; it has shop, std."),
    ],
    ids=["source", "as", "not a source", "only", "exclude", "long"],
)
async def test_a_source_that_the_board_does_not_have_is_refused(
    tmp_path: Path, selection: BoardSelection, said: str
) -> None:
    async with a_board(tmp_path) as board:
        with pytest.raises(InvalidRequest) as caught:
            check_selection(selection, board, principal=LOCAL)

    assert str(caught.value).endswith(said)


@pytest.mark.parametrize(("count", "end"), [(0, "it has none."), (30, "s26 and 10 more.")])
async def test_a_board_names_so_many_of_its_sources(tmp_path: Path, count: int, end: str) -> None:
    entries = [f"{{kind: builtin, name: s{number}}}" for number in range(count)]
    async with a_board(tmp_path, f"sources: [{', '.join(entries)}]") as board:
        assert unknown_source("qq", board, principal=LOCAL).endswith(end)


SLOW_BOARD = """
network: {allow_hosts: [127.0.0.1]}
sources:
  - {kind: builtin, name: std}
  - {kind: openapi, name: slow, config: {document: "http://127.0.0.1:PORT/openapi.json"}}
policy: {deny: ["std__shell_exec"]}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A board all of whose sources answer."""
    path = tmp_path / "board.yaml"
    path.write_text("sources: [{kind: builtin, name: std}]")
    return path


@pytest.mark.parametrize(
    "globs",
    [(), ("std__*",), ("*calculator", "std__web_*"), ("board__read_result",)],
    ids=["none", "source", "two", "the board's own"],
)
async def test_globs_that_fit_something_say_nothing(path: Path, globs: tuple[str, ...]) -> None:
    async with Pegboard(path, settings=Settings()) as board:
        assert check_globs(BoardSelection(only=globs), board) == []


def _only(glob: str) -> BoardSelection:
    return BoardSelection(only=("std__*", glob))


def _listed(glob: str) -> BoardSelection:
    return BoardSelection(listed=("std__*", glob))


@pytest.mark.parametrize(
    ("glob", "said"),
    [
        (
            "std__calculater",
            "Nothing on the board matches 'std__calculater'; did you mean 'std__calculator'?",
        ),
        ("*qqq*", "Nothing on the board matches '*qqq*'."),
        ("qqq", "Nothing on the board matches 'qqq'."),
    ],
    ids=["misspelt", "glob", "bare"],
)
@pytest.mark.parametrize("choose", [_only, _listed])
async def test_what_nothing_can_fit_is_refused(
    path: Path, glob: str, said: str, choose: Callable[[str], BoardSelection]
) -> None:
    async with Pegboard(path, settings=Settings()) as board:
        with pytest.raises(InvalidRequest) as refused:
            check_globs(choose(glob), board)

    assert str(refused.value) == said


async def test_a_list_of_no_tools_is_none_of_misspelt_globs(path: Path) -> None:
    async with Pegboard(path, settings=Settings()) as board:
        selection = BoardSelection(listed=("",))
        check_selection(selection, board, principal=LOCAL)

        assert check_globs(selection, board) == []


async def test_a_list_of_tools_of_an_unknown_source_is_refused(path: Path) -> None:
    async with Pegboard(path, settings=Settings()) as board:
        with pytest.raises(InvalidRequest, match="did you mean 'std'"):
            check_selection(BoardSelection(listed=("stt__*",)), board, principal=LOCAL)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_what_a_slow_source_may_still_bring_is_told(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    with silent_port() as port:
        path.write_text(SLOW_BOARD.replace("PORT", str(port)))
        selection = BoardSelection(only=("slow__*", "sl*__pay", "*pay*", "std__shell_exec"))
        async with Pegboard(path, settings=Settings(open_patience=0.1, list_timeout=60)) as board:
            await board.wait_for("std__calculator")
            pending = check_globs(selection, board)
            with pytest.raises(InvalidRequest, match="std__pay"):
                check_globs(BoardSelection(only=("std__pay*",)), board)
            with pytest.raises(InvalidRequest, match="'st\\*pay'"):
                check_globs(BoardSelection(only=("st*pay",)), board)
        async with Pegboard(path, settings=Settings(list_timeout=6)) as board:
            await board.wait_for_sources()
            failed = check_globs(selection, board)

    assert [text.partition(":")[0] for text in pending] == [
        f"nothing on the board matches '{glob}' yet" for glob in ("slow__*", "sl*__pay", "*pay*")
    ]
    assert "source 'slow' is pending: no answer yet after " in pending[0]
    assert "source 'slow' failed: no answer within 6 s" in failed[0]

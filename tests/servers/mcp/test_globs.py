from pathlib import Path

import pytest
from tests.runtime.slow import silent_port

from pegboard.errors import InvalidRequest
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.mcp.globs import check_globs
from pegboard.servers.mcp.selection import BoardSelection

BOARD = """
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


@pytest.mark.parametrize(
    ("glob", "said"),
    [
        (
            "std__calculater",
            "Nothing on the board fits 'std__calculater'; did you mean 'std__calculator'?",
        ),
        ("*qqq*", "Nothing on the board fits '*qqq*'."),
        ("qqq", "Nothing on the board fits 'qqq'."),
    ],
    ids=["misspelt", "glob", "bare"],
)
async def test_what_nothing_can_fit_is_refused(path: Path, glob: str, said: str) -> None:
    async with Pegboard(path, settings=Settings()) as board:
        with pytest.raises(InvalidRequest) as refused:
            check_globs(BoardSelection(only=("std__*", glob)), board)

    assert str(refused.value) == said


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_what_a_slow_source_may_still_bring_is_told(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    with silent_port() as port:
        path.write_text(BOARD.replace("PORT", str(port)))
        part = BoardSelection(only=("slow__*", "sl*__pay", "*pay*", "std__shell_exec"))
        async with Pegboard(path, settings=Settings(open_patience=0.1, list_timeout=60)) as board:
            await board.wait_for("std__calculator")
            pending = check_globs(part, board)
            with pytest.raises(InvalidRequest, match="std__pay"):
                check_globs(BoardSelection(only=("std__pay*",)), board)
            with pytest.raises(InvalidRequest, match="'st\\*pay'"):
                check_globs(BoardSelection(only=("st*pay",)), board)
        async with Pegboard(path, settings=Settings(list_timeout=6)) as board:
            await board.settled()
            failed = check_globs(part, board)

    assert [text.partition(":")[0] for text in pending] == [
        f"nothing on the board fits '{glob}' yet" for glob in ("slow__*", "sl*__pay", "*pay*")
    ]
    assert "source 'slow' is pending: no answer yet, asked " in pending[0]
    assert "source 'slow' is failed: no answer within 6 s" in failed[0]

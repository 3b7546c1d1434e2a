"""The `marketplaces:` of a board file, right and wrong, and what is made of them."""

from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard, parse_board
from pegboard.runtime.board_file.marketplaces import PegboardEntry
from pegboard.runtime.secret_values import secret_values
from pegboard.runtime.wiring.marketplace import markets_of, tokens_of


def loaded(text: str, **environ: str) -> LoadedBoard:
    return parse_board(f"marketplaces:\n{text}", environ, path=Path("/b/board.yaml"))


def test_every_kind_is_read() -> None:
    board = loaded(
        "  - {kind: mcp_registry, name: a, document: servers.json}\n"
        "  - {kind: openapi_directory, name: b, document: 'https://x.example/list.json'}\n"
        '  - {kind: pegboard, name: c, url: "https://hq.example/", token: "${HQ_TOKEN}"}\n'
        "  - {kind: pegboard, name: d, url: 'https://other.example'}\n",
        HQ_TOKEN="secret",
    )

    markets = markets_of(board)

    assert [(item.name, item.place, item.token, item.token_as) for item in markets] == [
        ("a", "servers.json", "", ""),
        ("b", "https://x.example/list.json", "", ""),
        ("c", "https://hq.example", "secret", "${HQ_TOKEN}"),
        ("d", "https://other.example", "", ""),
    ]
    assert [item.is_remote for item in markets] == [False, True, True, True]
    assert markets[0].base_dir == Path("/b")
    assert tokens_of(board) == {"https://hq.example/mcp": "secret"}
    assert "secret" in secret_values([board.board])
    assert "secret" not in repr((board.board, markets))


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("abc", id="in clear"),
        pytest.param("${HQ_TOKEN:-abc}", id="by default"),
        pytest.param("x${HQ_TOKEN:-abc}", id="in part"),
    ],
)
def test_a_token_that_is_no_variable_is_never_written_anywhere(written: str) -> None:
    board = loaded(f'  - {{kind: pegboard, name: my-hq, url: "https://a", token: "{written}"}}\n')

    assert markets_of(board)[0].token_as == "${MARKET_MY_HQ_TOKEN}"
    assert isinstance(board.board.marketplaces[0], PegboardEntry)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("  - {kind: x, name: a}\n", "'kind' is one of", id="an unknown kind"),
        pytest.param("  - {name: a}\n", "'kind' is missing", id="no kind"),
        pytest.param(
            "  - {kind: mcp_registry, name: a__b, document: x}\n", "at most 30 letters", id="a name"
        ),
        pytest.param("  - {kind: mcp_registry, name: a}\n", "document", id="no document"),
        pytest.param(
            "  - {kind: mcp_registry, name: a, document: 'ftp://x'}\n",
            "write an http(s) address, or a file",
            id="another scheme",
        ),
        pytest.param(
            "  - {kind: mcp_registry, name: a, document: 'https://u:p@x'}\n",
            "leave the user name",
            id="a password",
        ),
        pytest.param(
            "  - {kind: pegboard, name: a, url: 'https://x/?a=b'}\n",
            "write it as https://host:port",
            id="a query",
        ),
        pytest.param(
            "  - {kind: pegboard, name: a, url: hq}\n",
            "write it as https://host:port",
            id="no address",
        ),
        pytest.param(
            "  - {kind: mcp_registry, name: a, document: x}\n"
            "  - {kind: mcp_registry, name: a, document: y}\n",
            "the name 'a' is used twice",
            id="twice",
        ),
        pytest.param(
            "  - {kind: mcp_registry, name: a, document: x, token: y}\n",
            "token",
            id="a token of nobody",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=r"board.yaml:\d+: marketplaces") as caught:
        loaded(text)

    assert says in str(caught.value)

from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard
from pegboard.runtime.board_file.load import load_board, parse_board

PATH = Path("/somewhere/board.yaml")


def test_a_board_as_in_the_documentation_is_read() -> None:
    loaded = parse_board(
        """
sources:
  - {kind: functions, name: shop, config: {modules: [shop_tools]}}
  - {kind: sql, name: chinook, config: {url: "sqlite:///chinook.db", hidden_tables: [Employee]}}
tools: []
policy: {deny: ["*delete*"], ask: ["shop__refund"], limits: {"shop__*": {rate: "20/s"}}}
""",
        {},
        path=PATH,
    )

    assert [entry.name for entry in loaded.board.sources] == ["shop", "chinook"]
    assert loaded.board.policy.limits["shop__*"].rate == "20/s"
    assert loaded.base_dir == Path("/somewhere")
    assert loaded.where(("sources", 1, "kind")) == "board.yaml:4"


def test_an_empty_file_is_an_empty_board() -> None:
    assert parse_board("", {}, path=PATH).board.sources == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param(
            "sources:\n  - {kind: functions}\n  - {kind: sql, nmae: x}\n",
            "board.yaml:3: sources[1].nmae: unknown key; did you mean 'name'?",
            id="misspelt key",
        ),
        pytest.param(
            "policy:\n  limits:\n    'a*':\n      burst: 5\n",
            "board.yaml:4: policy.limits.a*.burst: unknown key; known are rate, concurrency",
            id="unknown key of a map",
        ),
        pytest.param(
            "policy:\n  limits:\n    'a*': {rate: 5}\n",
            "board.yaml:3: policy.limits.a*.rate: write the time too, as '5/s', found 5",
            id="a rate without its time",
        ),
        pytest.param(
            "sources:\n  - {name: x}\n",
            "board.yaml:2: sources[0].kind: missing; write it here",
            id="missing",
        ),
        pytest.param(
            "policy:\n  deny: 5\n",
            "board.yaml:2: policy.deny: should be a list, found 5",
            id="wrong type",
        ),
        pytest.param(
            "policy:\n  deny: '*delete*'\n",
            "board.yaml:2: policy.deny: should be a list, found '*delete*'; write ['*delete*']",
            id="one for a list",
        ),
        pytest.param(
            "agents: foo\n",
            "board.yaml:1: agents: should be a list, found 'foo'",
            id="a name for a list of mappings",
        ),
        pytest.param(
            "sources:\n  - {kind: functions, files: [a.py]}\n",
            "board.yaml:2: sources[0].files: unknown key; known are kind, name, config, enabled, "
            "trusted; settings of a source kind belong under 'config'",
            id="a key of the kind",
        ),
        pytest.param(
            "policy: 5\n", "board.yaml:1: policy: should be a mapping, found 5", id="no mapping"
        ),
        pytest.param(
            "- a\n", "board.yaml:1: a board is a mapping, as in 'sources: [...]'", id="a list"
        ),
        pytest.param(
            "sources: []\n\nsorces: []\n",
            "board.yaml:3: sorces: unknown key; did you mean 'sources'?",
            id="top level",
        ),
        pytest.param(
            "sources:\n  - kind: sql\n    config: {url: '${NO_SUCH}'}\n",
            "board.yaml:3: sources[0].config.url: the variable NO_SUCH is not set; set it, or "
            "write ${NO_SUCH:-default}",
            id="unset variable",
        ),
    ],
)
def test_a_mistake_is_told_with_line_and_remedy(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_board(text, {}, path=PATH)

    assert str(raised.value) == says


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_board("a: 1\nb: 2\npolicy: {asc: []}\n", {}, path=PATH)

    assert len(str(raised.value).splitlines()) == 3


def test_variables_are_filled_in_and_kept_as_secrets() -> None:
    loaded = parse_board(
        "sources:\n  - kind: sql\n    config: {url: 'pg://u:${PASSWORD}@h/${DB:-main}', n: [1]}\n",
        {"PASSWORD": "s3cret"},
        path=PATH,
    )

    assert loaded.board.sources[0].config == {"url": "pg://u:s3cret@h/main", "n": [1]}
    assert loaded.secrets == ("s3cret",)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("network: {allow_hosts: 'pg://u:s3cret@h/x'}", id="a password in a URL"),
        pytest.param("network: {allow_hosts: '${MY_TOKEN}'}", id="a secret variable"),
        pytest.param("network: {allow_hosts: 'x${MINE:-y}'}", id="any variable"),
    ],
)
def test_a_mistake_never_quotes_a_secret(text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_board(text, {"MY_TOKEN": "s3cret", "MINE": "s3cret"}, path=PATH)

    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        pytest.param("auth: {kind: bearer, token: '${MINE}'}", False, id="from a variable"),
        pytest.param("auth: {kind: bearer, token: '${MY_TOKEN}'}", False, id="with a line break"),
        pytest.param('auth: {kind: bearer, token: "s3cret\\n"}', False, id="by its key"),
        pytest.param('headers: {X-Team: "s3cret\\n"}', True, id="as the file says it"),
    ],
)
async def test_a_mistake_in_a_source_never_quotes_a_secret(
    tmp_path: Path, config: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "board.yaml"
    path.write_text(
        "sources:\n  - {kind: openapi, name: x, config: {document: x.json, " + config + "}}\n"
    )
    monkeypatch.setenv("MY_TOKEN", "s3cret\n")
    monkeypatch.setenv("MINE", "s3cret\n")

    with pytest.raises(ConfigError) as caught:
        async with Pegboard(path):
            pass

    assert "line break" in str(caught.value)
    assert ("s3cret" in str(caught.value)) is shown


def test_other_variables_are_no_secrets() -> None:
    loaded = parse_board("sources: [{kind: '${KIND}'}]", {"KIND": "builtin"}, path=PATH)

    assert loaded.secrets == ()


def test_a_missing_file_says_how_to_write_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pegboard init"):
        load_board(tmp_path / "board.yaml", {})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ConfigError, match="cannot be read"):
        load_board(path, {})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", "it is a folder, not a file"),
        ("/dev/zero", "it is a device, a pipe or a socket, not a file"),
        ("big.yaml", "it has more than 8,388,608 bytes"),
    ],
)
def test_what_is_no_file_of_that_size_is_refused_at_once(
    tmp_path: Path, name: str, said: str
) -> None:
    with (tmp_path / "big.yaml").open("wb") as file:
        file.truncate(5 * 2**30)

    with pytest.raises(ConfigError, match=f"cannot be read: {said}"):
        load_board(tmp_path / name, {})


def test_a_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    path.write_text("sources: [{kind: builtin}]\n")

    assert load_board(path, {}).board.sources[0].kind == "builtin"


@pytest.mark.parametrize(
    "value",
    [
        *["59:59:59", "2001-01-01", ".inf", ".nan", "1e999", "9" * 5000, "0x" + "f" * 5000],
        *["!!set {a}", "!!binary '@@'", "!!int ''", "&a [*a]", "{<<: {a: 1}}", "1:" * 3000 + "1"],
        "'\x01'",
    ],
    ids=lambda value: value[:12],
)
@pytest.mark.parametrize(
    "place", ["policy: {limits: {a: {concurrency: %s}}}", "policy: %s", "sources: %s"]
)
def test_every_odd_value_is_told_with_its_line(place: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"^board.yaml:2: "):
        parse_board("\n" + place.replace("%s", value), {}, path=Path("board.yaml"))


async def test_a_host_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    path.write_text("sources: []\nnetwork: {allow_hosts: [59:59:59]}\n")

    with pytest.raises(ConfigError, match=r"^board.yaml:2: network.allow_hosts: '59:59:59' is not"):
        await Pegboard(path).__aenter__()

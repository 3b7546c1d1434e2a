"""`$.env` in plans and runs: from the board alone, checked ahead, and kept by each run."""

from pathlib import Path
from typing import Any

import pytest

from pegboard import tool
from pegboard.core.graph import Graph, Node
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConfigError, GraphInvalid
from pegboard.graphs import read_graph
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.board_file.load import check_env, parse_board
from pegboard.runtime.current_board import CurrentBoard

BOARD = "env: {region: eu, retries: 3, share: 0.5, strict: true}\n"


@tool(effect="read")
async def place(region: str, retries: int = 0) -> str:
    """Say where."""
    return f"{region} {retries}"


GRAPH: dict[str, Any] = {
    "nodes": [
        {
            "id": "place",
            "tool": "place",
            "input": {"region": "$.env.region", "retries": "$.env.retries"},
            "when": "env.strict && env.share < 0.6 && env.retries == 3",
        },
        {
            "id": "later",
            "kind": "wait",
            "wait": {"event": "go"},
            "edges": [{"node": "place"}],
        },
        {
            "id": "again",
            "tool": "place",
            "input": {"region": "$.env.region"},
            "edges": [{"node": "later"}],
        },
    ]
}


def board_of(text: str, **environment: str) -> dict[str, Any]:
    loaded = parse_board(text, environment, path=Path("board.yaml"))
    check_env(loaded)
    return dict(CurrentBoard(loaded, Settings(), []).env_of(LOCAL))


def opened(folder: Path, text: str = BOARD, **settings: Any) -> Pegboard:
    path = folder / "board.yaml"
    path.write_text(text)
    return Pegboard(path, tools=[place], settings=Settings(**settings))


def test_a_board_says_what_graphs_may_read() -> None:
    assert board_of(BOARD) == {"region": "eu", "retries": 3, "share": 0.5, "strict": True}
    assert board_of("env: {region: '${REGION}'}", REGION="us") == {"region": "us"}
    assert board_of("sources: []") == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("env: {api_key: abc}", id="a name that says so"),
        pytest.param("env: {where: '${MY_TOKEN}'}", id="from a secret variable"),
        pytest.param("env: {where: 'at ${MY_TOKEN}!'}", id="with a secret within"),
        pytest.param("env: {db: 'postgresql://me:hunter2@host/db'}", id="an address with one"),
    ],
)
def test_a_secret_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^board.yaml:1: 'env\.\w+' looks like a secret") as told:
        board_of(text, MY_TOKEN="hunter2")

    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("env: {a-b: 1}", id="a name that no condition can write"),
        pytest.param("env: {a: [1]}", id="a list"),
        pytest.param("env: {a: null}", id="nothing"),
        pytest.param(f"env: {{a: {'x' * 2001}}}", id="too long"),
        pytest.param(f"env: {{{', '.join(f'a{n}: 1' for n in range(101))}}}", id="too many"),
    ],
)
def test_what_is_no_plain_value_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^board.yaml:1: env"):
        board_of(text)


def test_an_organisation_reads_its_own_before_those_of_the_board() -> None:
    text = "env: {region: eu, retries: 3}\norganisations: {acme: {env: {region: us}}}\n"
    current = CurrentBoard(parse_board(text, {}, path=Path("board.yaml")), Settings(), [])

    assert current.env_of(Principal(id="ada", tenant="acme")) == {"region": "us", "retries": 3}
    assert current.env_of(Principal(id="bob", tenant="bolt")) == {"region": "eu", "retries": 3}


def test_a_secret_of_an_organisation_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"^board.yaml:2: 'organisations.acme.env.token' looks"):
        board_of("organisations:\n  acme: {env: {token: abc}}")


async def test_runs_of_an_organisation_read_its_own(tmp_path: Path) -> None:
    graph = Graph(nodes=(Node(id="a", tool="place", input={"region": "$.env.region"}),))
    text = "env: {region: eu}\norganisations: {acme: {env: {region: us}}}\n"
    async with opened(tmp_path, text) as board:
        outputs: list[Any] = []
        for principal in (Principal(id="ada", tenant="acme"), LOCAL):
            view = await board.runs.start_graph(graph, principal=principal)
            ended = await board.runs.wait(view.id, principal=principal)
            outputs.append(ended.result.nodes[0].output)

    assert outputs == ["us 0", "eu 0"]


async def test_inputs_and_conditions_read_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as board:
        view = await board.runs.start_graph(read_graph(GRAPH), principal=LOCAL)
        await board.runs.wait(view.id, principal=LOCAL)
        await board.runs.send(view.id, "go", principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert ended.result.state == "completed"
    assert [node.output for node in ended.result.nodes] == ["eu 3", None, "eu 0"]


async def test_a_run_reads_what_there_was_when_it_began_wherever_it_is_played(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    async with opened(tmp_path, data=data) as board:
        view = await board.runs.start_graph(read_graph(GRAPH), principal=LOCAL)
        await board.runs.wait(view.id, principal=LOCAL)
    async with opened(tmp_path, "env: {region: us}", data=data) as board:
        await board.runs.send(view.id, "go", principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert [node.output for node in ended.result.nodes] == ["eu 3", None, "eu 0"]


async def test_a_changed_board_holds_for_new_runs(tmp_path: Path) -> None:
    graph = Graph(nodes=(Node(id="a", tool="place", input={"region": "$.env.region"}),))
    async with opened(tmp_path) as board:
        (tmp_path / "board.yaml").write_text("env: {region: us}")
        await board.reload()
        view = await board.runs.start_graph(graph, principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)
        (tmp_path / "board.yaml").write_text("env: {token: us}")
        with pytest.raises(ConfigError, match="looks like a secret"):
            await board.reload()

    assert ended.result.output == {"a": "us 0"}


@pytest.mark.parametrize(
    ("input", "code"),
    [
        pytest.param({"region": "$.env.HOME"}, "env_unknown", id="the process's environment"),
        pytest.param({"region": "$.env.region.x"}, "path_dangling", id="below a text"),
        pytest.param({"region": "eu", "retries": "$.env.share"}, "input_mismatch", id="a half"),
        pytest.param({"region": "eu", "retries": "$.env.strict"}, "input_mismatch", id="a boolean"),
    ],
)
async def test_what_it_does_not_have_is_told_ahead(
    tmp_path: Path, input: dict[str, Any], code: str
) -> None:
    document = {"nodes": [{"id": "a", "tool": "place", "input": input}]}
    async with opened(tmp_path) as board:
        checked = board.plans.check(document, principal=LOCAL)
        with pytest.raises(GraphInvalid):
            await board.runs.start_graph(read_graph(document), principal=LOCAL)

    assert [fault.code for fault in checked.preview.faults] == [code]


async def test_a_condition_on_what_is_not_there_is_told_ahead(tmp_path: Path) -> None:
    node = {"id": "a", "tool": "place", "input": {"region": "eu"}, "when": "env.stage == 'x'"}
    async with opened(tmp_path) as board:
        checked = board.plans.check({"nodes": [node]}, principal=LOCAL)

    assert [fault.code for fault in checked.preview.faults] == ["env_unknown"]

"""`pegboard run PLAN`: play a plan or a file to its end."""

from pathlib import Path
from typing import Annotated

import typer

from pegboard.cli.exits import exits
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    SvgOption,
    TimelineOption,
    settings,
    with_board,
)
from pegboard.cli.params import given_params
from pegboard.errors import GraphInvalid, InvalidRequest
from pegboard.features.runs import RunView
from pegboard.runtime import Pegboard


def run(
    plan: Annotated[str, typer.Argument(help="A plan's id, or a file with a plan or a graph.")],
    *,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", help="`key=text` or `key:=json`; repeatable."),
    ] = None,
    key: Annotated[
        str, typer.Option(help="The same key is the same run: begun once, and then gone on with.")
    ] = "",
    svg: SvgOption = None,
    timeline: TimelineOption = None,
    board: BoardOption = None,
    data: DataOption = None,
    json: JsonOption = False,
) -> None:
    """Run a plan, and draw what happened. With --data it can be gone on with after a crash."""
    from pegboard.cli.run_telling import draw, tell, watched

    async def start(opened: Pegboard) -> RunView:
        if document is None:
            return await opened.runs.start_plan(plan, params, key=key)
        from pegboard.graphs import read_graph

        return await opened.runs.start_graph(read_graph(document), params, key=key)

    async def play(opened: Pegboard) -> RunView:
        try:
            view = await start(opened)
        except GraphInvalid:
            await opened.settled()  # what was meant by a wrong name may be listed only now
            view = await start(opened)
        return await watched(opened, view.id, quiet=json)

    with exits():
        params = given_params(param or [])
        document = _document(plan)
        view = with_board(settings(board, data), play, whole=False)
        draw(view, svg=svg, timeline=timeline)
    tell(view, json=json)


def _document(plan: str) -> dict[str, object] | None:
    """What a file says; None for the id of a plan.

    Raises:
        InvalidRequest: The file holds no JSON or YAML object.
    """
    path = Path(plan)
    if path.suffix not in {".json", ".yaml", ".yml"} and not path.is_file():
        return None
    import yaml

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidRequest(f"{plan} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InvalidRequest(f"{plan} holds no plan: it is no object.")
    return found  # pyright: ignore[reportUnknownVariableType] - any JSON object; read_graph says what is wrong with it

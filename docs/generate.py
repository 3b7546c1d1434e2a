"""Writes `docs/reference/` from the code, so that the reference is never behind it.

`python docs/generate.py` writes; with `--check` it writes nothing and fails if a page would change.
One function makes one page; `PAGES` lists them.
"""

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # it is run as a script too

from docs.python_reference import api_page, services_page

REFERENCE = Path(__file__).resolve().parent / "reference"
_NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"


_SET_UP = "../how-to/set-up-search-mail-and-images.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check every page; the exit code is 1 if a checked page is stale."""
    parser = argparse.ArgumentParser(description="Write docs/reference/ from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if stale")
    parser.add_argument("--folder", type=Path, default=REFERENCE, help="where the pages are")
    parser.add_argument(
        "--openapi", type=Path, help="write only the OpenAPI document, to this file"
    )
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    if options.openapi is not None:
        options.openapi.parent.mkdir(parents=True, exist_ok=True)
        options.openapi.write_text(json.dumps(_openapi()), encoding="utf-8")
        return 0
    wanted = pages()
    if options.check:
        stale = sorted(_stale(folder, wanted))
        sys.stderr.writelines(f"{name} is stale: run `make docs`\n" for name in stale)
        return 1 if stale else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    return 0


def pages() -> dict[str, str]:
    """The text of every page by its file name, the index included."""
    bodies = {name: make() for name, make in PAGES.items()}
    links = [f"* [{_title(body)}]({name}): {_lead(body)}" for name, body in bodies.items()]
    bodies["README.md"] = _page("Reference", "Everything there is to look up.", "\n".join(links))
    return {name: f"{_NOTE}\n\n{body}\n" for name, body in bodies.items()}


def errors_page() -> str:
    """The error tree, and a line for each code."""
    from pegboard import errors
    from pegboard.servers.http.problem_details import STATUSES

    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.PegboardError)
    ]
    rows = [
        (
            f"`{kind.code}`",
            f"`{kind.__name__}`",
            str(STATUSES[kind]),
            _yes(kind.retryable),
            _summary(kind),
        )
        for kind in sorted(kinds, key=lambda kind: kind.code)
    ]
    return _page(
        "Errors",
        "What each code means, and whether the same call may succeed later. A code is stable, and "
        "the same on every door.",
        f"```text\n{(errors.__doc__ or '').split('```')[1].strip()}\n```",
        _table(("code", "class", "HTTP", "retryable", "meaning"), rows),
    )


def settings_page() -> str:
    """The environment variables."""
    from pegboard.runtime.settings import PREFIX, Settings

    rows = [
        (f"`{PREFIX}{name.upper()}`", *_field(field))
        for name, field in Settings.model_json_schema()["properties"].items()
    ]
    return _page(
        "Settings",
        "What the environment of the process sets, for the command line and the server. An unknown "
        f"`{PREFIX}*` variable is an error; an empty one counts as not set.",
        _table(("variable", "type", "default", "meaning"), rows),
    )


def board_page() -> str:
    """The board file."""
    from pegboard.runtime.board_file.models import Board

    return _page(
        "board.yaml",
        "What the board file may say. An unknown key is an error that names the line. `${NAME}` "
        "and `${NAME:-default}` are replaced from the environment.",
        *_model(Board.model_json_schema()),
    )


def sources_page() -> str:
    """The kinds of source and their `config:`."""
    from pegboard.runtime.plugins import list_kinds, load_kind

    kinds = [load_kind(name) for name in list_kinds()]
    parts: list[str] = []
    for kind in kinds:
        extra = f"\n\nNeeds `pip install 'pegboard[{kind.extra}]'`." if kind.extra else ""
        parts += [f"## {kind.kind}", f"{kind.title}{extra}"]
        parts += _model(kind.config.model_json_schema(), level=3)
    return _page(
        "Kinds of source",
        "What `kind:` may say under `sources:` in a `board.yaml`, and what its `config:` takes.",
        *parts,
    )


def builtin_page() -> str:
    """The built-in tools."""
    from pegboard.core.ports.services import Services
    from pegboard.sources.builtin import discover_builtin_tools

    specs = [item.spec for item in discover_builtin_tools()]
    reasons = {item.spec.name: item.availability(Services()) for item in discover_builtin_tools()}
    parts: list[str] = []
    for category in sorted({spec.category for spec in specs}):
        parts.append(f"## {category}")
        for spec in (spec for spec in specs if spec.category == category):
            parts += [f"### {spec.name}", f"```text\n{spec.description}\n```"]
            if "PEGBOARD_" in reasons[spec.name]:
                parts.append(f"Unavailable at first: {reasons[spec.name]} ([how]({_SET_UP})).")
            parts.append(f"Effect: {spec.effect}. Arguments:")
            parts += _model(spec.input_schema, level=4)
    return _page(
        "Built-in tools",
        "What `kind: builtin` puts on a board, by category. What cannot be used, for want of a "
        "key or an extra, carries the reason and is never offered to a model.",
        *parts,
    )


def cli_page() -> str:
    """The command line."""
    import typer
    from typer.main import get_command

    from pegboard.cli.app import app
    from pegboard.cli.exit_codes import Exit

    parts: list[str] = []
    for name, command in _commands("pegboard", get_command(app)):
        context = typer.Context(command, info_name=name, terminal_width=90)
        parts += [f"## `{name}`", f"```text\n{command.get_help(context)}\n```"]
    codes = [(f"`{code.value}`", code.name.lower().replace("_", " ")) for code in Exit]
    return _page(
        "Command line",
        "The commands of `pegboard`, as `--help` prints them.",
        "Exit codes:",
        _table(("code", "meaning"), codes),
        *parts,
    )


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command, and all those below it."""
    yield name, command
    for below, inner in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {below}", inner)


def _openapi() -> dict[str, Any]:
    from pegboard.runtime import Pegboard, Settings
    from pegboard.servers.http import create_app
    from pegboard.servers.http.openapi import document

    return document(create_app(Pegboard(settings=Settings())), needs_token=True)


def http_page() -> str:
    """The HTTP routes, from the OpenAPI document."""
    api = _openapi()
    routes = {
        f"{method.upper()} {path}": operation
        for path, operations in api["paths"].items()
        for method, operation in operations.items()
    }
    refusals = {
        status: answer["description"]
        for operation in routes.values()
        for status, answer in operation["responses"].items()
        if status >= "3"
    }
    return _page(
        "HTTP",
        "The routes of `pegboard serve`. The same is in `GET /openapi.json`; each route is also "
        "there under `/v1`. Whatever fails is answered as `application/problem+json` with the "
        "`code` of its [error](errors.md). A query parameter that a route does not list is refused "
        "(422), except by the probes and the paths of OpenAI's API.",
        _table(("status", "meaning"), sorted(refusals.items())),
        *(part for name, operation in routes.items() for part in _operation(name, operation)),
        "## Schemas",
        *_model({"$defs": api["components"]["schemas"]}, level=3),
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "api.md": api_page,
    "board.md": board_page,
    "builtin.md": builtin_page,
    "cli.md": cli_page,
    "errors.md": errors_page,
    "http.md": http_page,
    "services.md": services_page,
    "settings.md": settings_page,
    "sources.md": sources_page,
}


def _operation(route: str, operation: Mapping[str, Any]) -> Iterator[str]:
    """One route: what it is for, what it takes, what it answers."""
    yield f"## `{route}`"
    yield operation.get("description", "")
    rows = [
        (f"`{item['name']}`", item["in"], *_field(item["schema"], required=item.get("required")))
        for item in operation.get("parameters", ())
    ]
    if rows:
        yield _table(("parameter", "in", "type", "default", "meaning"), rows)
    for media_type, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Body: {_type(body['schema'])} as `{media_type}`."
    answers = operation["responses"]
    given = [f"`{status}` with {_answer(answers[status])}" for status in answers if status < "3"]
    refused = [f"`{status}`" for status in answers if status >= "3"]
    yield f"Answers {', '.join(given)}; refuses with {', '.join(refused)}."


def _answer(answer: Mapping[str, Any]) -> str:
    content = answer.get("content", {})
    shown = [
        _type(body["schema"]) if "$ref" in body.get("schema", {}) else f"`{media_type}`"
        for media_type, body in content.items()
    ]
    return " or ".join(shown) or "nothing"


def _model(schema: Mapping[str, Any], *, level: int = 2) -> list[str]:
    """A pydantic model as tables: its own fields, then those of each model inside."""
    inner = {"": schema, **schema.get("$defs", {})}
    parts: list[str] = []
    for name, model in inner.items():
        if name:
            parts.append(f"{'#' * level} {name}")
        if name and model.get("description"):
            parts.append(" ".join(model["description"].split()))
        if model.get("enum"):
            parts.append(f"One of {_type(model)}.")
        if fields := model.get("properties"):
            required = model.get("required", ())
            rows = [
                (f"`{key}`", *_field(field, required=key in required))
                for key, field in fields.items()
            ]
            parts.append(_table(("key", "type", "default", "meaning"), rows))
    return parts


def _field(field: Mapping[str, Any], *, required: bool | None = False) -> tuple[str, str, str]:
    """A field's type, default and meaning."""
    default = "*required*" if required else ""
    if "$ref" not in field and field.get("default") not in (None, "", [], {}):
        default = f"`{json.dumps(field['default'])}`"
    return _type(field), default, field.get("description", "")


def _type(schema: Mapping[str, Any]) -> str:
    """A JSON Schema's type in a few words; a model inside is a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum") or [schema["const"]] if value)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            kinds = [_type(each) for each in schema[key] if each.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"mapping of {_type(schema['additionalProperties'])}"
    return schema.get("format", kind)


def _stale(folder: Path, wanted: Mapping[str, str]) -> Iterator[str]:
    """The pages that are missing, differ or are no longer written."""
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return (name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *(part for part in parts if part)])


def _title(body: str) -> str:
    return body.splitlines()[0].removeprefix("# ")


def _lead(body: str) -> str:
    """The first sentence of the first paragraph."""
    paragraph = " ".join(body.split("\n\n")[1].split())
    return paragraph.partition(". ")[0].rstrip(".") + "."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _summary(thing: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _yes(value: object) -> str:
    return "yes" if value else ""


if __name__ == "__main__":
    sys.exit(main())

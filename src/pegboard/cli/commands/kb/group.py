"""`pegboard kb`: put documents into knowledge bases, and ask them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pegboard.cli.commands.kb.check import check_files, check_names
from pegboard.cli.commands.kb.progress import DocumentProgress
from pegboard.cli.exit_codes import Exit, exit_on_error
from pegboard.cli.options import (
    BoardOption,
    DataOption,
    JsonOption,
    UrlOption,
    settings,
    with_client,
)
from pegboard.cli.output.tables import count_noun, note, say, say_json, table
from pegboard.core.knowledge import UNFINISHED
from pegboard.errors import InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.knowledge_port import KnowledgeClient
    from pegboard.cli.client.port import BoardClient

BaseArgument = Annotated[str, typer.Argument(metavar="BASE", help="The name or id of a base.")]
_LOOK_AGAIN = 0.2
_WEB = ("http://", "https://")
_SKIPPED = {
    "meaning": "the embedding model failed, so this was found by words alone",
    "rerank": "the reranker failed, so this is in the order without it",
}


kb = typer.Typer(
    help="Put documents into knowledge bases, and ask them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@kb.command("list")
def list_bases(
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="A base, to list its documents.")
    ] = "",
    *,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """List the knowledge bases that you see, or the documents of one."""

    async def ask(client: "BoardClient") -> Mapping[str, Any]:
        if not base:
            return await client.knowledge.list_bases()
        return await client.knowledge.list_documents(base)

    with exit_on_error():
        found = with_client(settings(board, data, url), ask, opens="named")
    if json:
        say_json(found)
    elif base:
        rows = map(_document_row, found["documents"])
        table(("id", "state", "pages", "pieces", "document", "why"), rows)
    else:
        table(("name", "documents", "pieces", "owner", "searched by"), map(_row, found["bases"]))
        if not found["bases"]:
            note("there is none; 'pegboard kb add NAME FILE...' makes one")


@kb.command()
def add(
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="A base; made if there is none of this name.")
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="The sources: files, folders of the server or web addresses; without any, "
            "folders and addresses of the base are read again for changes.",
        ),
    ] = None,
    *,
    below: Annotated[
        bool, typer.Option("--below", help="Also take in the pages below an address.")
    ] = False,
    pages: Annotated[
        int, typer.Option("--pages", min=1, max=500, help="At most this many pages.")
    ] = 50,
    description: Annotated[
        str, typer.Option("--description", help="What a new base is about, for models and people.")
    ] = "",
    edition: Annotated[
        str, typer.Option("--edition", help="A date or a name by which editions are ordered.")
    ] = "",
    replaces: Annotated[
        str, typer.Option("--replaces", help="Id of the document that this one replaces.")
    ] = "",
    check: Annotated[
        bool,
        typer.Option("--check", help="Show what the files would change, and add nothing."),
    ] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Add documents to a base, and wait until answers use them.

    The command exits with 1 if one of them could not be read.
    """
    if check:
        check_files(base, sources or (), replaces, settings_of=(board, data, url), json=json)
        return

    async def put(client: "BoardClient") -> Mapping[str, Any]:
        kb = client.knowledge
        _refuse_missing(sources or ())
        known = (await kb.list_bases())["bases"]
        found = next((it for it in known if base in {it["name"], it["id"]}), None)
        if found is None:
            found = await kb.add_base({"name": base, "description": description})
            note(f"made the base {found['name']}")
        said = {"edition": edition, "replaces": replaces}
        before = list_failed(await kb.list_documents(found["id"]))
        runs = [await _put(kb, found["id"], it, below, pages, said) for it in sources or ()]
        if not runs:
            runs = [(await kb.refresh(found["id"]))["run"]]
        with DocumentProgress(is_quiet=json) as progress:
            listed = await _wait(kb, found["id"], progress)
        faults = [text for run in runs if run for text in await _list_faults(client, run)]
        for text in faults:
            note(text)
        return {**listed, "has_failed": bool(faults or list_failed(listed) - before)}

    with exit_on_error():
        if (edition or replaces) and len(sources or ()) != 1:
            raise InvalidRequest("--edition and --replaces are about one file.")
        check_names(path for it in sources or () if (path := Path(it).expanduser()).is_file())
        listed = with_client(settings(board, data, url, keep="write"), put, opens="named")
    if json:
        say_json({name: value for name, value in listed.items() if name != "has_failed"})
    else:
        table(
            ("id", "state", "pages", "pieces", "document", "why"),
            map(_document_row, listed["documents"]),
        )
        if any(item["state"] == "held" for item in listed["documents"]):
            note("a document that is held back answers once it is reviewed in the console")
    if listed["has_failed"]:
        raise typer.Exit(Exit.FAILED)


def list_failed(listed: Mapping[str, Any]) -> set[tuple[str, float]]:
    """The documents that have failed, with when."""
    return {(it["id"], it["updated_at"]) for it in listed["documents"] if it["state"] == "failed"}


@kb.command()
def ask(
    base: BaseArgument,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question, in full words.")
    ],
    *,
    mode: Annotated[
        Literal["grounding", "simple"],
        typer.Option("--mode", help="Checked quotes with conflicts, or the best pieces."),
    ] = "grounding",
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Ask a base; the answer is quotes with their documents and pages."""
    declared: set[str] = set()

    async def find(client: "BoardClient") -> Mapping[str, Any]:
        answer = await client.knowledge.ask(base, {"question": question, "mode": mode})
        if not json and any(_is_empty(look) for look in answer["looks"]):
            bases = (await client.knowledge.list_bases())["bases"]
            declared.update(item["name"] for item in bases if item["is_declared"])
        return answer

    with exit_on_error():
        answer = with_client(settings(board, data, url, keep="write"), find, opens="named")
    if json:
        say_json(answer)
        return
    show_answer(answer, say, declared=declared)


@kb.command()
def remove(
    base: BaseArgument,
    document: Annotated[
        str,
        typer.Argument(metavar="DOCUMENT", help="Id of a document; without it, the whole base."),
    ] = "",
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
    board: BoardOption = None,
    data: DataOption = None,
    url: UrlOption = None,
    json: JsonOption = False,
) -> None:
    """Delete a document, or a whole base, for good."""

    async def delete(client: "BoardClient") -> Mapping[str, Any]:
        import asyncio

        kb = client.knowledge
        goes = await kb.count_deletion(base, document)
        if not yes:
            documents = count_noun(goes["documents"], "document")
            said = f"{documents} ({count_noun(goes['pieces'], 'piece')}) and every stored quote"
            await asyncio.to_thread(typer.confirm, f"Delete {said} for good?", abort=True)
        await kb.remove(base, document)
        return goes

    with exit_on_error():
        goes = with_client(settings(board, data, url, keep="write"), delete, opens="named")
    if json:
        say_json(goes)
        return
    say(f"deleted: {document or base}")


def show_answer(
    answer: Mapping[str, Any], tell: Callable[[str], None], *, declared: Collection[str] = ()
) -> None:
    """Print what was found for a question; `declared` are the names of the board file's bases."""
    for look in answer["looks"]:
        for text in _list_shortcomings(look, is_declared=look["name"] in declared):
            tell(f"{look['name']}: {text}")
    if answer["mode"] == "simple":
        scores = {hit["piece"]: hit["score"] for hit in answer["hits"]}
        for quote in answer["quotes"]:
            score = f"{scores[quote['piece']]:.2f}" if quote["piece"] in scores else ""
            tell(f"[{quote['number']}] {_place(quote)}  {score}\n    “{_line(quote['quote'])}”")
        if not answer["quotes"]:
            tell("Nothing was found.")
        return
    if answer["end"] == "not_enough":
        tell(f"Not enough evidence. {answer['reason']}")
    for quote in answer["quotes"]:
        tell(f"[{quote['number']}] {_place(quote)}\n    “{_line(quote['quote'])}”")
    for item in answer["conflicts"]:
        about = f" on {item['about']}" if item["about"] else ""
        tell(f"[{item['first']}] and [{item['second']}] contradict each other{about}.")
    if answer["confidence"] is not None:
        tell(f"confidence {answer['confidence']:.2f}")


async def _put(
    kb: "KnowledgeClient",
    base: str,
    source: str,
    below: bool,
    pages: int,
    said: Mapping[str, str],
) -> str:
    """Put one file, folder or address in; the run that looks through a folder or address."""
    if source.startswith(_WEB):
        web = {"url": source, "below": below, "at_most": pages}
        return str((await kb.add(base, {"web": web}))["run"])
    path = Path(source).expanduser().resolve()  # noqa: ASYNC240 - the command runs alone
    if path.is_dir():
        return str((await kb.add(base, {"folder": str(path)}))["run"])
    given = {name: text for name, text in said.items() if text}
    added = await kb.add_file(base, path, given)
    for item in added["documents"]:
        if item["outcome"] == "already_here":
            note(f"{path.name} is already here: {item['document']['id']}")
    return ""


async def _list_faults(client: "BoardClient", run: str) -> list[str]:
    """Why files or pages were not taken in."""
    view = await client.show_run(run)
    if view["state"] != "completed":
        error: Mapping[str, Any] = view["error"] or {}
        return [str(error.get("message", "It was not looked through."))]
    output = view["output"]
    lines = [f"{fault['place']}: {fault['message']}" for fault in output.get("faults", ())]
    if (more := output["failed"] - len(lines)) > 0:
        lines.append(f"{more} more could not be taken in")
    return lines


def _refuse_missing(sources: Sequence[str]) -> None:
    """Refuse paths that lead nowhere before a base is made or a part of the sources is added."""
    for source in sources:
        if not source.startswith(_WEB) and not Path(source).expanduser().exists():
            raise InvalidRequest(f"There is no file or folder '{source}'.")


async def _wait(kb: "KnowledgeClient", base: str, progress: DocumentProgress) -> Mapping[str, Any]:
    """The documents, once nothing is under way."""
    import asyncio

    while True:
        listed = await kb.list_documents(base)
        progress.show(listed["documents"])
        is_busy = any(item["state"] in UNFINISHED for item in listed["documents"])
        if not is_busy and not await kb.is_gathering(base):
            return listed
        await asyncio.sleep(_LOOK_AGAIN)


def _is_empty(look: Mapping[str, Any]) -> bool:
    return not look["failure"] and not look["documents"] and not look["not_ready"]


def _list_shortcomings(look: Mapping[str, Any], *, is_declared: bool) -> list[str]:
    """What of a base was not searched, and why."""
    found = [_SKIPPED[stage] for stage in look["skipped"] if stage in _SKIPPED]
    if look["failure"]:
        found.insert(0, f"not searched: {look['failure']}")
    elif _is_empty(look):
        command = f"'pegboard kb add {look['name']}"
        named = f"{command}' takes in those that the board file names, " if is_declared else ""
        found.insert(0, f"it has no documents yet: {named}{command} FILE' adds one")
    return found


def _place(item: Mapping[str, Any]) -> str:
    page = f", page {item['page']}" if item["page"] else ""
    edition = f" ({item['edition']})" if item["edition"] else ""
    return f"{item['title']}{edition}{page}"


def _line(text: str) -> str:
    return " ".join(text.split())


def _row(base: Mapping[str, Any]) -> tuple[str, ...]:
    counts = base["documents"]
    documents = f"{counts['ready']} of {sum(counts.values())}"
    stages = " and ".join(base["stages"])
    return (base["name"], documents, str(base["pieces"]), base["owner"] or "board file", stages)


def _document_row(item: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        item["id"],
        item["state"],
        str(item["pages"]),
        str(item["pieces"]),
        item["path"],
        item["reason"],
    )

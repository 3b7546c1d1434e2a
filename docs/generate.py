"""Writes `docs/reference/` from the code, so that the reference is never behind it.

`python docs/generate.py` writes; with `--check` it writes nothing and fails if a page would change.
One function makes one page; `_PAGES` lists them.
"""

import argparse
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

REFERENCE = Path(__file__).resolve().parent / "reference"
_NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check every page; the exit code is 1 if a checked page is stale."""
    parser = argparse.ArgumentParser(description="Write docs/reference/ from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if stale")
    parser.add_argument("--folder", type=Path, default=REFERENCE, help="where the pages are")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
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
    bodies = {name: make() for name, make in _PAGES.items()}
    bodies["README.md"] = _index(bodies)
    return {name: f"{_NOTE}\n\n{body.strip()}\n" for name, body in bodies.items()}


def errors_page() -> str:
    """The error tree, and a line for each code."""
    from pegboard import errors

    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.PegboardError)
    ]
    rows = [
        (f"`{kind.code}`", f"`{kind.__name__}`", _yes(kind.retryable), _summary(kind))
        for kind in sorted(kinds, key=lambda kind: kind.code)
    ]
    return f"""# Errors

What each error's code means, and whether the same call may succeed later. A code is stable, and the
same on every door.

```text
{(errors.__doc__ or "").split("```")[1].strip()}
```

{_table(("code", "class", "retryable", "meaning"), rows)}
"""


_PAGES: dict[str, Callable[[], str]] = {
    "errors.md": errors_page,
}


def _index(bodies: dict[str, str]) -> str:
    lines = [f"* [{_title(body)}]({name}): {_lead(body)}" for name, body in bodies.items()]
    return "# Reference\n\n" + "\n".join(lines)


def _stale(folder: Path, wanted: dict[str, str]) -> Iterator[str]:
    """The pages that are missing, differ or are no longer written."""
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    return (name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def _title(body: str) -> str:
    return body.strip().splitlines()[0].removeprefix("# ")


def _lead(body: str) -> str:
    """The first sentence of the first paragraph."""
    paragraph = " ".join(body.strip().split("\n\n")[1].split())
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

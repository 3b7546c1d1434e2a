"""The pages of the reference about Python: the front door, and the services of a board."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib import import_module
from itertools import chain, pairwise
from types import MappingProxyType

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields):")
_ITEM = re.compile(r" {4}([\w*.]+): (.*)")
_SILENCED = re.compile(r"  # (?:type|pyright|noqa).*")
_BESIDE = {
    "AgentCall": "pegboard.runtime.agent_result",
    "AgentEvent": "pegboard.runtime.agent_result",
    "AgentLimits": "pegboard.engines",
    "AgentResult": "pegboard.runtime.agent_result",
    "AudioPart": "pegboard.core.result",
    "ImagePart": "pegboard.core.result",
    "PendingCall": "pegboard.runtime.agent_result",
    "TextPart": "pegboard.core.result",
    "Effect": "pegboard.core.tool",
    "ScriptedModel": "pegboard.testing",
    "Tool": "pegboard.core.tool",
    "Turn": "pegboard.testing",
}
"""Public names whose home is their module."""
_SERVICES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "plans": {
            "pegboard.features.plans": ("Plans", "MadePlan"),
            "pegboard.planning": ("PlanRequest", "ChainLink"),
        },
        "runs": {
            "pegboard.features.runs": ("Runs", "RunView"),
            "pegboard.graphs": ("read_graph",),
            "pegboard.core.run": ("RunResult", "NodeRun", "PendingStep"),
            "pegboard.core.ports.run_store": ("RunQuery",),
            "pegboard.rendering.text": ("waterfall",),
        },
        "approvals": {
            "pegboard.features.approvals": ("Approvals",),
            "pegboard.core.ports.approval_store": ("Approval", "ApprovalQuery"),
        },
        "history": {"pegboard.core.ports.call_stores": ("History", "HistoryQuery")},
        "conversations": {
            "pegboard.features.conversations": ("Conversations", "NewMessage", "ChatEvent")
        },
        "knowledge": {
            "pegboard.features.knowledge": (
                "Knowledge",
                "NewBase",
                "NewDocument",
                "read_chunks",
                "DocumentQuery",
                "DocumentEdit",
            ),
            "pegboard.features.knowledge.bases": ("Bases",),
            "pegboard.features.knowledge.documents": ("Documents",),
            "pegboard.core.ports.knowledge.document_store": ("StoredDocument",),
            "pegboard.core.ports.knowledge.evidence_store": ("StoredEvidence",),
            "pegboard.core.knowledge": ("Evidence", "Citation", "Conflict"),
        },
        "files": {"pegboard.features.files": ("Files",)},
        "agents": {"pegboard.features.agents": ("Agents",)},
        "switches": {"pegboard.features.kill_switches": ("KillSwitches",)},
        "audit": {"pegboard.features.audit": ("Audit",)},
        "catalogue": {"pegboard.features.catalogue": ("CatalogueService",)},
    }
)
"""Of each property of a board, the modules and names of what it is, takes and gives."""
_MADE_BY_THE_BOARD = frozenset({"Bases", "Documents"})
"""Services that are attributes of another service."""
_INTERNAL: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "Plans": frozenset({"check_in_slices"}),
        "Runs": frozenset({"end", "follow"}),
        "Approvals": frozenset({"watch", "catch_up", "expire", "withdraw", "withdraw_ended"}),
        "Conversations": frozenset({"close", "recover", "notify"}),
        "Knowledge": frozenset({"close", "wake"}),
        "Agents": frozenset({"make_request", "select_tools", "find_delegates"}),
        "KillSwitches": frozenset({"load"}),
        "CatalogueService": frozenset({"load"}),
    }
)
"""Of each service, the methods that only the board calls."""


def api_page() -> str:
    """What the front door offers."""
    import pegboard
    from pegboard.errors import PegboardError

    public = {name: getattr(pegboard, name) for name in pegboard.__all__}
    public |= {name: getattr(import_module(home), name) for name, home in _BESIDE.items()}
    public = {name: public[name] for name in sorted(public, key=str.lower)}
    errors = [
        name
        for name, thing in public.items()
        if isinstance(thing, type) and issubclass(thing, PegboardError)
    ]
    others = [name for name in public if name not in errors]
    return "\n\n".join(
        (
            "# Python API",
            (
                "What `from pegboard import ...` offers, and what is rarely needed and stays in "
                "its module. The [services of a board](services.md) have a page of their own. "
                "Everything else is private and may change."
            ),
            ", ".join(_links(others)),
            "\n".join(_list_imports(_BESIDE)),
            (
                f"The errors {', '.join(f'`{name}`' for name in errors)} are "
                "[described here](errors.md) with all others of `pegboard.errors`."
            ),
            *(_section(name, public[name]) for name in others),
        )
    )


def services_page() -> str:
    """The services that are properties of a board."""
    homes = {
        name: home
        for modules in _SERVICES.values()
        for home, names in modules.items()
        for name in names
    }
    services = {next(chain.from_iterable(modules.values())) for modules in _SERVICES.values()}
    services |= _MADE_BY_THE_BOARD
    rows = [
        f"| `board.{key}` | {', '.join(_links([*chain.from_iterable(modules.values())]))} |"
        for key, modules in _SERVICES.items()
    ]
    return "\n\n".join(
        (
            "# Services of a board",
            (
                "What the properties of a [`Pegboard`](api.md#pegboard) can do in a program, with "
                "the values that they take and give. `principal` is the caller: `LOCAL` of "
                "`pegboard` is the owner of the process."
            ),
            "\n".join(
                ["| property | its class, and what it takes and gives |", "| --- | --- |", *rows]
            ),
            "\n".join(_list_imports(homes)),
            *(
                _section(name, getattr(import_module(home), name), is_service=name in services)
                for name, home in homes.items()
            ),
        )
    )


def _list_imports(homes: Mapping[str, str]) -> Iterator[str]:
    """Where what is not at the front door is imported from."""
    for home in dict.fromkeys(homes.values()):
        names = [name for name, its in homes.items() if its == home]
        yield f"* `from {home} import {', '.join(names)}`"


def _section(name: str, thing: object, *, is_service: bool = False) -> str:
    """A name's declaration as it is written, its docstring, and those of its methods.

    A service is made by its board: what it is made of is left out, and what only the board calls.
    """
    if inspect.ismodule(thing):
        return f"## {name}\n\n{inspect.getdoc(thing)}"
    source = inspect.getsource(inspect.getmodule(thing) or sys)
    found = [
        node
        for node in ast.parse(source).body
        if isinstance(node, Definition) and node.name == name
    ]
    if not found:
        return f"## {name}\n\n{_constant_prose(source, name)}"
    if is_service:
        _leave_out(found[-1], {"__init__", *_INTERNAL.get(name, ())})
    shown = found[:-1] or found  # a function with overloads is shown by them
    code = "\n".join(line for node in shown for line in _skeleton(node, source.splitlines()))
    code = _fill_in_constants(code, source)
    parts = [f"## {name}", f"```python\n{code}\n```", _prose(found[-1])]
    if isinstance(found[-1], ast.ClassDef):
        parts += [
            f"### {name}.{method.name}\n\n{_prose(method)}"
            for method in _public_methods(found[-1])
            if ast.get_docstring(method)
        ]
    return "\n\n".join(part for part in parts if part)


def _leave_out(node: Definition, names: AbstractSet[str]) -> None:
    """Leave out methods, and what the class is made of."""
    unknown = names - {getattr(each, "name", "") for each in node.body} - {"__init__"}
    if unknown:
        raise LookupError(f"{node.name} has no {', '.join(sorted(unknown))}")
    node.decorator_list = []
    node.body = [each for each in node.body if getattr(each, "name", "") not in names]
    match node.body[0]:
        case ast.Expr(value=ast.Constant(value=str(text)) as constant):
            constant.value = re.sub(r"\n +Args:\n(?:\n? {8}.*)*", "", text)
        case _:
            pass


def _fill_in_constants(code: str, source: str) -> str:
    """Write the values of private constants where they are defaults."""
    values = {
        target.id: ast.unparse(statement.value)
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return re.sub(r"(?<== )_[A-Z]\w*", lambda found: values.get(found[0], found[0]), code)


def _constant_prose(source: str, name: str) -> str:
    """The text below the assignment of a constant."""
    body = ast.parse(source).body
    for statement, following in pairwise(body):
        match statement, following:
            case ast.Assign(targets=[ast.Name(id=known)]), ast.Expr(value=ast.Constant(value=text)):
                if known == name:
                    return str(text)
            case _:
                pass
    raise LookupError(f"{name} has no text")


def _links(names: Sequence[str]) -> Iterator[str]:
    """Links to headings; the second of two that differ only in case is numbered."""
    seen: set[str] = set()
    for name in names:
        anchor = f"{name.lower()}-1" if name.lower() in seen else name.lower()
        seen.add(anchor)
        yield f"[`{name}`](#{anchor})"


def _skeleton(node: Definition, source: Sequence[str]) -> Iterator[str]:
    """The lines of a declaration without what runs: for a class, its public fields and methods."""
    decorators = [f"@{ast.unparse(decorator)}" for decorator in node.decorator_list]
    body = node.body[0]
    shares_its_line = bool(source[body.lineno - 1][: body.col_offset].strip())
    head = source[node.lineno - 1 : body.lineno if shares_its_line else body.lineno - 1]
    head = [_SILENCED.sub("", line) for line in head]
    if not isinstance(node, ast.ClassDef):
        yield from (decorator for decorator in decorators if decorator != "@overload")
        yield from textwrap.dedent("\n".join(head)).removesuffix(" ...").splitlines()[:-1]
        yield textwrap.dedent("\n".join(head)).removesuffix(" ...").splitlines()[-1] + " ..."
        return
    yield from (*decorators, *head)
    members = [line for field in _public_fields(node) for line in _lines(field, source)]
    members += [line for method in _public_methods(node) for line in _skeleton(method, source)]
    yield from (f"    {line}" for line in members or ["..."])


def _public_fields(node: ast.ClassDef) -> Iterator[ast.AnnAssign | ast.Assign]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign | ast.Assign) and ast.unparse(each)[0] != "_":
            yield each


def _public_methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for each in node.body:
        if isinstance(each, _FUNCTIONS) and (each.name == "__init__" or each.name[0] != "_"):
            yield each


def _lines(node: ast.AnnAssign | ast.Assign, source: Sequence[str]) -> list[str]:
    """A statement as it is written, without the comment that silences a check."""
    written = "\n".join(source[node.lineno - 1 : node.end_lineno])
    return _SILENCED.sub("", textwrap.dedent(written)).splitlines()


def _prose(node: Definition) -> str:
    """A docstring as Markdown: its sections become lists, its fences stay as they are."""
    lines: list[str] = []
    section = fenced = False
    for line in (ast.get_docstring(node) or "").splitlines():
        fenced ^= line.startswith("```")
        if fenced:
            lines.append(line)
        elif header := _SECTION.fullmatch(line):
            section = True
            lines += [f"*{header[1]}*", ""]
        elif section and (item := _ITEM.fullmatch(line)):
            lines.append(f"* `{item[1]}`: {item[2]}")
        else:
            lines.append(f"  {line.strip()}" if section and line.strip() else line)
    return "\n".join(lines).strip()

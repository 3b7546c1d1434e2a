"""Names follow three rules: a function is a verb, a class a noun, one name is one thing."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.shape import tree

from pegboard import errors

IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        """
        begun bent bought bound broken brought built caught chosen dealt done drawn driven eaten
        fallen felt forgotten fought found frozen given gone got grown heard held hidden hung
        kept known laid led left lost made meant met paid said seen sent shaken shown slept sold
        sought spent spoken stolen stood struck sworn taken taught thought thrown told torn
        understood woken won worn wound written
        """,
    )
)
"""Past participles that do not end in -ed."""

VERBS = frozenset(
    {"bed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"}
)
"""Verbs that end in -ed."""

GERUND_NOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        binding building encoding finding heading landing listing mapping pricing ring routing
        setting spring string thing timing warning
        """,
    )
)
"""Words in -ing that are nouns of their own, as last words of a class."""

GERUND_MODULES = frozenset(
    re.findall(
        r"\w+",
        """
        docstring indexing listing logging mapping masking matching paging parsing ping pinning
        planning rendering scheduling testing tracing
        """,
    )
)
"""Modules whose gerund is the field's own noun."""

RETIRED = frozenset(
    re.findall(
        r"\w+",
        """
        crew doing giver givers hear heard hears kit laid misfit misfits patience play played
        player playing plays telling told unhurried wish wishes
        """,
    )
)
"""Words for which the field has better ones: attempt, release, deliver, report."""

PARTICIPLES_OF_THE_API: dict[str, str] = {
    "engines/structured_call.py:structured_llm_call": "the specification names it",
    "registry/registry.py:prefixed": "the specification names this view of a registry",
    "registry/registry.py:renamed": "the specification names this view of a registry",
}
"""Functions that a specification names by a participle."""

TWICE: dict[str, str] = {}
"""Classes that share a name with a class of another module."""

EVENTS = ("core/event.py", "core/run_event.py")


def test_a_public_function_is_no_participle() -> None:
    found = [
        f"{place}:{name}"
        for place, name, node in _functions()
        if _is_participle(_words(name)[0]) and not _is_value(node)
    ]

    assert tree.ratchet(found, PARTICIPLES_OF_THE_API) == []


def test_a_class_is_no_gerund_and_no_participle() -> None:
    found = [
        f"{place}:{node.name}"
        for place, node in _classes()
        if place not in EVENTS and not _is_error(node)
        if _is_gerund(last := _words(node.name)[-1]) or _is_participle(last)
    ]

    assert found == []


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for place, node in _classes():
        places[node.name].append(place)

    assert tree.ratchet([name for name, where in places.items() if len(where) > 1], TWICE) == []


def test_a_module_is_no_gerund_but_the_fields_own() -> None:
    found = [
        tree.name(path)
        for path in tree.modules()
        if path.stem.endswith("ing") and _words(path.stem)[-1] not in GERUND_MODULES
    ]

    assert found == []


def test_no_name_has_a_retired_word() -> None:
    found = [f"{place}:{name}" for place, name, _ in _functions(private=True) if _is_retired(name)]
    found += [f"{place}:{node.name}" for place, node in _classes() if _is_retired(node.name)]
    found += [tree.name(path) for path in tree.modules() if _is_retired(path.stem)]

    assert found == []


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(*, private: bool = False) -> Iterator[tuple[str, str, Function]]:
    """Functions and methods of every module: its name, theirs, and the definition."""
    for path in tree.modules():
        for owner, node in _definitions(tree.syntax(path).body):
            if node.name.startswith("__"):
                continue
            if private or not (node.name.startswith("_") or owner.startswith("_")):
                yield tree.name(path), node.name, node


def _definitions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield owner, node
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, node.name)


def _classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for path in tree.modules():
        for node in tree.classes(path):
            if not node.name.startswith("_"):
                yield tree.name(path), node


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [word for word in spaced.lower().split("_") if word] or [name]


def _is_participle(word: str) -> bool:
    return word in IRREGULAR or (len(word) > 3 and word.endswith("ed") and word not in VERBS)


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and word not in GERUND_NOUNS


def _is_retired(name: str) -> bool:
    return not RETIRED.isdisjoint(_words(name))


def _is_value(node: Function) -> bool:
    """Whether a function is read as a value: a property, or a yes-or-no question."""
    if any(
        "property" in ast.unparse(each) or "setter" in ast.unparse(each)
        for each in node.decorator_list
    ):
        return True
    returns = "" if node.returns is None else ast.unparse(node.returns).strip("'\"")
    return returns == "bool" or returns.startswith(("TypeGuard", "TypeIs"))


def _is_error(node: ast.ClassDef) -> bool:
    """Whether a class is an error or a signal that is raised."""
    names = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    return any(
        name.endswith(("Error", "Exception")) or hasattr(errors, name) for name in names
    ) or hasattr(errors, node.name)

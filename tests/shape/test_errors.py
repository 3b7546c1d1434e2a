"""The error tree, its codes and the picture of it in the docstring agree."""

import inspect
import re
from collections import Counter
from collections.abc import Iterator

from pegboard import errors
from pegboard.errors import PegboardError


def test_every_error_has_a_code_of_its_own() -> None:
    inherited = [kind.__name__ for kind in _tree() if "code" not in vars(kind)]

    assert inherited == []


def test_no_two_errors_share_a_code() -> None:
    shared = [code for code, uses in Counter(kind.code for kind in _tree()).items() if uses > 1]

    assert shared == []


def test_a_code_is_a_word_that_never_needs_quoting() -> None:
    odd = [kind.code for kind in _tree() if not re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code)]

    assert odd == []


def test_the_docstring_draws_the_tree_as_it_is() -> None:
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").split("```")[1].strip().splitlines():
        branch, kind = re.findall(r"^([│├└─ ]*)(\w+)", line)[0]
        path[len(branch) // 4 :] = [kind]
        drawn[kind] = path[-2] if len(path) > 1 else ""

    assert drawn == {kind.__name__: _parent(kind) for kind in _tree()}


def _tree() -> Iterator[type[PegboardError]]:
    for _, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, PegboardError):
            yield kind


def _parent(kind: type[PegboardError]) -> str:
    return "" if kind is PegboardError else kind.__bases__[0].__name__

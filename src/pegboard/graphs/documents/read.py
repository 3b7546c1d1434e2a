"""Reads graphs from documents: in our own form, and from plans of RFC-0003.

Our form has the fields of `Graph` and `Node`, without those at their default. A plan is
`{plan_id, task_id, steps: [{step_id, tool_id, input_mapping, depends_on, when, for_each, fallbacks,
retry, timeout}]}`. Integer ids are read as text: step 1 is the step `1`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast, get_args

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.graph import LARGE, Graph
from pegboard.errors import GraphInvalid, Problem

if TYPE_CHECKING:
    from pydantic import BaseModel

_MAX_PROBLEMS = 100


def is_plan(document: Mapping[str, Any]) -> bool:
    """Whether a document is written as a plan, and not in our own form."""
    return "steps" in document and "nodes" not in document


def read_graph(document: Mapping[str, Any]) -> Graph:
    """Read a graph from a document in either form.

    Raises:
        GraphInvalid: The document is no graph; every fault with its path.
    """
    from pydantic import ValidationError

    from pegboard.graphs.documents.models import GraphForm
    from pegboard.graphs.documents.plan_locations import PlanLocations
    from pegboard.graphs.documents.plan_models import PlanForm

    form = PlanForm if is_plan(document) else GraphForm
    name = str(document.get("name") or document.get("id") or document.get("plan_id") or "")
    try:
        return form.model_validate(_in_parts(document, form)).to_graph()
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
        problems = tuple(_problem(item, form) for item in found[:_MAX_PROBLEMS])
        if is_plan(document):
            places = PlanLocations(_step_ids(document["steps"]))
            problems = tuple(_at(places.name_step(item.path), item) for item in problems)
        raise GraphInvalid(name, problems) from error


async def read_in_thread(document: Mapping[str, Any]) -> Graph:
    """Read a graph; a large one in a thread. Raises as `read_graph`."""
    items = document.get("steps", document.get("nodes"))
    is_large = isinstance(items, (list, tuple)) and len(cast("Sequence[Any]", items)) >= LARGE
    return await in_thread(lambda: read_graph(document), is_large=is_large)


def _in_parts(document: Mapping[str, Any], form: "type[BaseModel]") -> Mapping[str, Any]:
    """A large document with its nodes validated one by one, so that other threads can run.

    If one is invalid the document is returned unchanged, so that all its faults are reported.
    """
    from pydantic import TypeAdapter, ValidationError

    word = "steps" if is_plan(document) else "nodes"
    items = document.get(word)
    if not isinstance(items, list) or len(cast("list[Any]", items)) < LARGE:
        return document
    one: TypeAdapter[Any] = TypeAdapter(get_args(form.model_fields[word].annotation)[0])
    try:
        return {**document, word: [one.validate_python(item) for item in cast("list[Any]", items)]}
    except ValidationError:
        return document


def _step_ids(steps: Any) -> list[str]:
    """The ids of steps, as far as they can be read."""
    return [_step_id(step) for step in cast("Sequence[Any]", steps)] if _is_list(steps) else []


def _step_id(step: Any) -> str:
    id_ = cast("Mapping[str, Any]", step).get("step_id") if isinstance(step, Mapping) else ""
    return str(id_) if isinstance(id_, (str, int)) and not isinstance(id_, bool) else ""


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _at(path: str, problem: Problem) -> Problem:
    return Problem(path=path, message=problem.message, kind=problem.kind)


def _problem(fault: Any, form: Any) -> Problem:
    if fault["type"].startswith("recursion"):
        return Problem(path="", message="graphs within graphs, too many times")
    kind = _KINDS.get(fault["type"], "value")
    return Problem(path=_path(fault["loc"]), message=_message(fault, form), kind=kind)


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for key in location:
        if isinstance(key, int):
            path += f"[{key}]"
        else:
            path += f".{key}" if path else key
    return path


def _message(item: Any, form: Any) -> str:
    """The message, worded as for the arguments of a tool."""
    from pegboard.schemas.lookup import property_names
    from pegboard.schemas.problems import missing_argument, unknown_argument
    from pegboard.tools.pydantic_errors import describe_fault

    place = item["loc"]
    match item["type"]:
        case "missing":
            return missing_argument(place).message
        case "extra_forbidden":
            names = property_names(_schema_of(form), place[:-1])
            return unknown_argument(place, names, noun="key").message if names else "unknown key"
        case _:
            return describe_fault(item)


@cache
def _schema_of(form: Any) -> Mapping[str, Any]:
    return form.model_json_schema()


_KINDS = {"extra_forbidden": "unknown", "missing": "missing"}

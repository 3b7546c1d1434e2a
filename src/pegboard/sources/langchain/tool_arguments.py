"""The arguments of a LangChain tool, under names that its model accepts.

LangChain's `tool_call_schema` names the fields of an `args_schema`, but the model reads them by
their aliases, and a field with only a `validation_alias` may be missing. Here an argument is shown
under a name by which the model reads it.
"""

import inspect
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, cast, get_args

from pegboard.errors import ToolSignatureError

_BY_NAME = ("populate_by_name", "validate_by_name")


def schema_of(tool: Any) -> dict[str, Any]:
    """The schema of the arguments, without injected ones, title and description.

    Raises:
        ToolSignatureError: An argument is of a type that has no JSON Schema.
    """
    try:
        schema = _schema(tool)
    except (RuntimeError, ValueError, TypeError, NameError) as error:  # as both pydantics raise
        reason = str(error).partition("\n")[0]
        raise ToolSignatureError(
            f"the arguments of the LangChain tool '{tool.name}' have no JSON Schema: {reason}"
        ) from error
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def find_injected(tool: Any) -> Mapping[str, tuple[Any, bool]]:
    """The injected arguments: the annotation of each, and whether the tool needs it."""
    found: dict[str, tuple[Any, bool]] = {}
    if not isinstance(tool.args_schema, dict):
        fields = _fields(tool.get_input_schema())
        for name, annotation in _injected_fields(tool).items():
            field = fields[name]
            is_needed = field.required if hasattr(field, "required") else field.is_required()
            found[name] = annotation, bool(is_needed)
    parameters = inspect.signature(_function_of(tool)).parameters
    # LangChain has no public way to get the injected arguments of the signature
    for name in getattr(tool, "_injected_args_keys", ()):
        if name in parameters and name not in found:
            parameter = parameters[name]
            found[name] = parameter.annotation, parameter.default is inspect.Parameter.empty
    return found


def unavailable_reason(tool: Any) -> str:
    """Why the tool cannot be called here, with the fix; empty when it can."""
    for name, (annotation, is_needed) in sorted(find_injected(tool).items()):
        is_call_id = _is_call_id(name, annotation)
        if is_needed and not is_call_id:
            return f"it needs '{name}' from a LangGraph agent, and there is none here"
        if is_call_id and _is_out_of_reach(tool, name):
            return (
                f"LangChain gives '{name}' by that name, and its args_schema reads it by an alias: "
                "take the alias away"
            )
    unnamed = sorted(name for name, taken in _accepted_names(tool).items() if not taken)
    if not unnamed:
        return ""
    return (
        f"its argument '{unnamed[0]}' is read from within another one (AliasPath), so that it has "
        "no name to be given by: add an alias that is a name, or populate_by_name=True, to its "
        "args_schema"
    )


def has_overridden_arun(tool: Any) -> bool:
    """Whether its class defines `_arun`."""
    from langchain_core.tools import BaseTool

    kind: Any = tool.__class__
    return kind._arun is not vars(BaseTool)["_arun"]  # noqa: SLF001 - what subclasses of BaseTool write


def _schema(tool: Any) -> dict[str, Any]:
    from langchain_core.utils.pydantic import model_json_schema

    if _is_pydantic_v1(tool.args_schema):
        return _pydantic_v1_schema(
            tool, {name: to for name, to in _accepted_names(tool).items() if to}
        )
    shape: Any = tool.tool_call_schema
    if tool.args_schema is None and set(tool.args) == {"tool_input"}:
        shape = {"properties": tool.args, "required": ["tool_input"]}
    is_schema = isinstance(shape, dict)
    schema = cast("dict[str, Any]", shape if is_schema else model_json_schema(shape))
    names = {name: taken for name, taken in _accepted_names(tool).items() if taken}
    shown = set(cast("Mapping[str, Any]", schema.get("properties", {})))
    if all(name == taken for name, taken in names.items()) and names.keys() <= shown:
        return schema
    return _renamed_schema(tool, names)


def _renamed_schema(tool: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """The schema of a model of pydantic 2, under the names that it accepts."""
    from pydantic import ConfigDict, Field, create_model

    fields = _fields(tool.args_schema)
    taken: Any = {
        name: Annotated[fields[name].annotation, fields[name], Field(alias=to, validation_alias=to)]
        for name, to in names.items()
    }
    made: Any = create_model(
        tool.name, __config__=ConfigDict(arbitrary_types_allowed=True), **taken
    )
    return made.model_json_schema()


def _pydantic_v1_schema(tool: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """The schema of a `pydantic.v1` model, which has aliases, without injected arguments."""
    schema = cast("dict[str, Any]", tool.args_schema.schema())
    shown = set(names.values())
    properties = cast("Mapping[str, Any]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    return {
        **schema,
        "properties": {name: part for name, part in properties.items() if name in shown},
        "required": [name for name in required if name in shown],
    }


def _accepted_names(tool: Any) -> Mapping[str, str]:
    """The name by which the model accepts each field; empty for none."""
    model: Any = tool.args_schema
    if not _is_model(model):
        return {}
    hidden = _injected_fields(tool)
    shown = {name: field for name, field in _fields(model).items() if name not in hidden}
    if _is_pydantic_v1(model):
        return {name: str(field.alias) for name, field in shown.items()}
    return {name: _accepted_name(model, name, field) for name, field in shown.items()}


def _accepted_name(model: Any, name: str, field: Any) -> str:
    if any(model.model_config.get(key) for key in _BY_NAME):
        return name
    return next(_single_names(field.validation_alias or name), "")


def _single_names(alias: Any) -> Iterator[str]:
    """The plain names of an alias; a path into another value is not one."""
    from pydantic import AliasChoices, AliasPath

    if isinstance(alias, str):
        yield alias
    elif isinstance(alias, AliasChoices):
        for choice in alias.choices:
            yield from _single_names(choice)
    elif isinstance(alias, AliasPath) and len(alias.path) == 1 and isinstance(alias.path[0], str):
        yield alias.path[0]


def _injected_fields(tool: Any) -> Mapping[str, Any]:
    """The annotations of injected fields."""
    from langchain_core.tools.base import get_all_basemodel_annotations

    full: Any = tool.get_input_schema()
    annotations = cast("Mapping[str, Any]", get_all_basemodel_annotations(full))
    if _is_pydantic_v1(full):  # LangChain cannot make a part of each of these
        found = {name: known for name, known in annotations.items() if _is_injected(known)}
    else:
        shown = _fields(tool.tool_call_schema).keys()
        found = {name: known for name, known in annotations.items() if name not in shown}
    for name, field in _fields(full).items():
        # LangChain misses those that the model accepts by another name
        if name not in annotations and _is_injected(known := _annotation_of(full, name, field)):
            found[name] = known
    return found


def _annotation_of(model: Any, name: str, field: Any) -> Any:
    """The annotation of a field, with its metadata."""
    if not _is_pydantic_v1(model):
        return field.rebuild_annotation()
    kinds = cast("tuple[type[Any], ...]", model.__mro__)
    said = [cast("dict[str, Any]", vars(kind).get("__annotations__", {})) for kind in kinds]
    return next((own[name] for own in said if name in own), None)


def _is_injected(annotation: Any) -> bool:
    from langchain_core.tools import InjectedToolArg

    return _has_mark(annotation, InjectedToolArg)


def _is_call_id(name: str, annotation: Any) -> bool:
    from langchain_core.tools import InjectedToolCallId

    return name == "tool_call_id" or _has_mark(annotation, InjectedToolCallId)


def _has_mark(annotation: Any, kind: type[Any]) -> bool:
    return any(
        isinstance(mark, kind) or (inspect.isclass(mark) and issubclass(mark, kind))
        for mark in get_args(annotation)[1:]
    )


def _is_out_of_reach(tool: Any, name: str) -> bool:
    """Whether LangChain injects a field by a name that its model does not accept."""
    from langchain_core.tools.base import get_all_basemodel_annotations

    model: Any = tool.args_schema
    field = _fields(model).get(name) if _is_model(model) else None
    if field is None:
        return False
    if name not in get_all_basemodel_annotations(model):
        return True  # LangChain does not see that it is to be given
    if _is_pydantic_v1(model):
        return field.alias != name and not model.__config__.allow_population_by_field_name
    return _accepted_name(model, name, field) != name


def _fields(model: Any) -> Mapping[str, Any]:
    from langchain_core.utils.pydantic import get_fields

    return cast("Mapping[str, Any]", get_fields(model))


def _is_model(shape: Any) -> bool:
    """Whether arguments are described by a class, and not by a JSON Schema or not at all."""
    return inspect.isclass(shape)


def _is_pydantic_v1(model: Any) -> bool:
    from pydantic.v1 import BaseModel

    return inspect.isclass(model) and issubclass(model, BaseModel)


def _function_of(tool: Any) -> Any:
    """What runs in the end: the function that a tool is made of, or what a class writes."""
    given: Any = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    return given or (tool._arun if has_overridden_arun(tool) else tool._run)  # noqa: SLF001 - what subclasses of BaseTool write

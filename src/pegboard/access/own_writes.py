"""Tell whether a write repeats one that the same answer has made.

A message of the caller names what the model may write, and the attacker can read it as the model
does. So what a message names allows one write: the same once more, with another text, is asked
about. `docs/how-to/say-who-may-call-what.md` states the rule.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from pegboard.access.argument_origins import MAX_TRACED, PROSE, is_moment, list_leaves
from pegboard.access.result_values import write_value
from pegboard.core.tool import ToolSpec


class OwnWrite(Struct, frozen=True, kw_only=True):
    """A write of a run, as far as another may repeat it.

    Attributes:
        call_id: The call.
        run: The run that answers a message of the caller.
        tool: The tool, by the name of what it runs.
        targets: Hashes of the values of each argument, without texts of the model and moments.
        texts: Hashes of those texts.
    """

    call_id: str
    run: str
    tool: str
    targets: Mapping[str, frozenset[int]]
    texts: frozenset[int]


def describe_write(
    spec: ToolSpec, arguments: Mapping[str, Any], *, call_id: str, run: str
) -> OwnWrite:
    """Describe a write before it runs.

    Args:
        spec: The tool.
        arguments: The validated arguments.
        call_id: The call.
        run: The run that answers a message of the caller.
    """
    targets: dict[str, set[int]] = {}
    texts: set[int] = set()
    for path, key, value in islice(list_leaves(spec, arguments), MAX_TRACED):
        text = write_value(value)
        if key in PROSE and isinstance(value, str):
            texts.add(hash(text))
        elif not is_moment(value):
            name = path.partition("[")[0].partition(".")[0]
            targets.setdefault(name, set()).add(hash(text))
    return OwnWrite(
        call_id=call_id,
        run=run,
        tool=spec.target or spec.name,
        targets={name: frozenset(values) for name, values in targets.items()},
        texts=frozenset(texts),
    )


def find_same_write(
    write: OwnWrite, earlier: Iterable[OwnWrite], *, carries_text: bool
) -> OwnWrite | None:
    """The earlier write of the same run that a write repeats; None for none.

    It repeats one of the same tool if each argument that both have shares a value with the other,
    so that neither a part of the recipients nor one more argument makes it another write.

    Args:
        write: The write.
        earlier: The writes before it.
        carries_text: Whether it has text that the caller has not written. Without any it repeats
            only a write with the same texts.
    """
    return next(
        (item for item in earlier if _repeats(write, item, carries_text=carries_text)), None
    )


def _repeats(write: OwnWrite, earlier: OwnWrite, *, carries_text: bool) -> bool:
    if (write.run, write.tool) != (earlier.run, earlier.tool):
        return False
    if not carries_text and write.texts != earlier.texts:
        return False
    shared = write.targets.keys() & earlier.targets.keys()
    return not any(write.targets[name].isdisjoint(earlier.targets[name]) for name in shared)

"""Spares a short command the garbage collections that find nothing."""

import gc
from typing import Any

START_OBJECTS = 200_000
"""More objects than a command makes that does not serve; hardly any of them become garbage."""


def spare_collections() -> None:
    """Collect first when there are `START_OBJECTS` objects, and then as Python does."""
    usual = gc.get_threshold()

    def end_start(phase: str, _: dict[str, Any]) -> None:
        if phase == "start":
            gc.callbacks.remove(end_start)
            gc.set_threshold(*usual)

    gc.callbacks.append(end_start)
    gc.set_threshold(START_OBJECTS, *usual[1:])


def spare_loaded_modules() -> None:
    """Leave what is loaded until now out of all collections, also of those at the exit.

    Only while the first collection is put off, and before modules of a board are loaded: a file
    that such a module leaves open is written by the collections at the exit.
    """
    if gc.get_threshold()[0] == START_OBJECTS:
        gc.freeze()

"""Import of modules, files and objects that a configuration names."""

import importlib
import importlib.util
import inspect
import logging
import re
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from symtable import symtable
from types import ModuleType
from typing import Any

from pegboard.concurrency.log_once import log_once
from pegboard.core.text.suggestions import did_you_mean
from pegboard.errors import SourceUnavailable, ToolSignatureError

_LOG = logging.getLogger("pegboard.sources")
_MODULE = re.compile(r"(?!\d)\w{1,60}(\.(?!\d)\w{1,60}){0,9}")
_CHANGED_AT = "__pegboard_changed_at__"


def import_module(name: str, base_dir: Path) -> ModuleType:
    """Import a module, looking in the board's folder first.

    Raises:
        SourceUnavailable: It is not there, or fails to import; says which.
    """
    folder = str(base_dir.resolve())
    if sys.path[0] != folder:
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    _forget_namesake(name, base_dir.resolve())
    try:
        return _fresh(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            raise SourceUnavailable(
                f"there is no module '{name}'; it is looked for in the board's folder and on "
                "Python's path"
            ) from error
        raise _import_error(name, error) from error
    except (Exception, SystemExit) as error:
        raise _import_error(name, error) from error


def module_files(name: str, base_dir: Path) -> list[Path]:
    """The file of an imported module; of one that is not, the files that it may have."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is not None:
        return [Path(file)]
    place = base_dir.joinpath(*name.split("."))
    return [place.with_suffix(".py"), place / "__init__.py"]


def import_file(path: Path, base_dir: Path) -> ModuleType:
    """The module of a Python file of its own, run again when the file has changed.

    Raises:
        SourceUnavailable: It is not there, or fails; says which.
    """
    path = (base_dir / path).resolve()
    if not path.is_file():
        raise SourceUnavailable(f"there is no file '{path.name}' in {path.parent}")
    # two files may have the same stem
    digest = sha256(str(path).encode()).hexdigest()[:16]
    name = f"pegboard_file_{path.stem}_{digest}"
    known = sys.modules.get(name)
    changed_at = path.stat().st_mtime_ns
    if known is not None and getattr(known, _CHANGED_AT, None) == changed_at:
        return known
    _remove_bytecode(path)
    return _run(name, path, changed_at)


def _run(name: str, path: Path, changed_at: int) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SourceUnavailable(f"'{path.name}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    known = sys.modules.get(name)
    sys.modules[name] = module  # so that its types can be resolved by name
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        # tools of the earlier run go on resolving their types
        if known is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = known
        raise _import_error(path.name, error) from error
    vars(module)[_CHANGED_AT] = changed_at  # only now: one that failed, or still runs, is not done
    return module


def find_object(reference: str, base_dir: Path) -> Any:
    """What `package.module:name.attribute` names.

    Raises:
        SourceUnavailable: The reference is malformed or leads nowhere.
    """
    module_name, separator, path = reference.partition(":")
    if not separator or not path:
        raise SourceUnavailable(f"'{reference}' should be written 'package.module:name'")
    found: Any = import_module(module_name, base_dir)
    for step in path.split("."):
        if not hasattr(found, step):
            hint = did_you_mean(step, dir(found))
            raise SourceUnavailable(f"'{module_name}' has no '{path}'{hint and f'; {hint}'}")
        found = getattr(found, step)
    return found


def find_own_object(reference: str, base_dir: Path) -> Any:
    """What `package.module:name` names, if the module defines that name; else None.

    A module defines the names in its `__all__`. Without one it defines its public functions and
    classes (`__module__` is the module), and the public names that its source assigns; what it
    imports it does not define. The object is only looked at: nothing of it is called.

    Raises:
        SourceUnavailable: The module cannot be imported, or the name leads nowhere.
    """
    module = import_module(reference.partition(":")[0], base_dir)
    name, *rest = reference.partition(":")[2].split(".")
    if not _defines(module, name) or any(step.startswith("_") for step in rest):
        return None
    return find_object(reference, base_dir)


def _defines(module: ModuleType, name: str) -> bool:
    public = vars(module).get("__all__")
    if isinstance(public, (list, tuple)):
        return name in public
    if name.startswith("_") or name not in vars(module):
        return False
    found = vars(module)[name]
    if inspect.isroutine(found) or inspect.isclass(found):
        return found.__module__ == module.__name__
    try:
        return symtable(inspect.getsource(module), "<module>", "exec").lookup(name).is_assigned()
    except (OSError, TypeError, SyntaxError, KeyError):  # no source, or another since the import
        return False


def missing_module(error: BaseException) -> str:
    """Which module foreign code lacks, and how it gets there; empty when that is not the fault."""
    name = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    if not name or not _MODULE.fullmatch(name):
        return ""
    package = name.partition(".")[0]
    if package in sys.modules:
        return f"needs the module '{name}', and the '{package}' that is installed has none"
    return (
        f"needs the module '{name}', which is not there: 'pip install {package}', or put it into "
        "the board's folder"
    )


def _forget_namesake(name: str, folder: Path) -> None:
    """Hide a module of the same name that belongs to another board."""
    place = folder.joinpath(*name.split("."))
    own = [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()]
    known = sys.modules.get(name)
    if known is None or not own:
        return
    file = getattr(known, "__file__", None)
    if file is None or Path(file).resolve() not in own:
        del sys.modules[name]


def _fresh(name: str) -> ModuleType:
    """The module, run again when its file has changed since it was imported."""
    known = sys.modules.get(name)
    if known is None:
        module = importlib.import_module(name)
        _remember(module)
        return module
    changed = _modification_time(known)
    if changed is not None and changed != getattr(known, _CHANGED_AT, changed):
        _remove_bytecode(Path(str(known.__file__)))
        known = importlib.reload(known)
    _remember(known)
    return known


def _remove_bytecode(source: Path) -> None:
    """Remove Python's compiled copy of a file.

    The copy counts as current if the size of the source and the second of its last change are
    those of the copy, so that a file that was edited twice in a second could be run as it was.
    """
    with suppress(OSError):  # a folder in which nothing can be removed holds no copy of ours
        Path(importlib.util.cache_from_source(source)).unlink(missing_ok=True)


def _remember(module: ModuleType) -> None:
    vars(module)[_CHANGED_AT] = _modification_time(module)


def _modification_time(module: ModuleType) -> int | None:
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        return None
    return Path(file).stat().st_mtime_ns


def _import_error(name: str, error: BaseException) -> SourceUnavailable:
    if isinstance(error, ToolSignatureError):
        return SourceUnavailable(f"'{name}': {error}")
    if missing := missing_module(error):
        return SourceUnavailable(f"'{name}' {missing}")
    # its text may hold anything, and a reason is shown to callers: the log is the operator's
    log_once(_LOG, f"{name} failed to import", error)
    line = f" in line {error.lineno}" if isinstance(error, SyntaxError) else ""
    return SourceUnavailable(
        f"'{name}' failed to import ({type(error).__name__}{line}); the log says why",
        is_logged=True,
    )

"""Shares among workers what pytest does once for each file of tests: rewriting its assertions.

After a fresh checkout this is a third of what it takes to collect all tests, and each worker of
pytest-xdist would do it for each file at the same moment.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import (
    PYC_TAIL,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
    try_makedirs,
)


def rewrite_share(
    files: Iterable[Path], config: pytest.Config, *, worker: int, workers: int
) -> None:
    """Rewrite a worker's share of the files that were not rewritten before.

    Args:
        files: The same files in the same order for each worker.
        config: Knows how to rewrite.
        worker: The number of this worker, from 0.
        workers: How many there are.
    """
    if sys.dont_write_bytecode:
        return
    for path in list(files)[worker::workers]:
        folder = get_cache_dir(path)
        written = folder / (path.name.removesuffix(".py") + PYC_TAIL)
        if written.exists() or not try_makedirs(folder):
            continue
        try:
            source, code = _rewrite_test(path, config)
        except SyntaxError:  # reported where the file is collected
            continue
        _write_pyc(config.stash[assertstate_key], code, source, written)

"""A board of this process as commands have it."""

import pytest

from pegboard.cli.client.files import LocalFiles
from pegboard.cli.client.local_parts import NEEDS_KEY, LocalParts
from pegboard.errors import AccessDenied
from pegboard.runtime import Pegboard


async def test_files_are_those_of_the_caller() -> None:
    async with Pegboard() as board:
        assert isinstance(LocalParts(board).files, LocalFiles)
        with pytest.raises(AccessDenied, match=NEEDS_KEY):
            _ = LocalParts(board, principal=None).files

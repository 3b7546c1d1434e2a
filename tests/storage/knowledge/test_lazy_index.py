"""An index that is opened by its first use."""

from typing import Any

import pytest
from tests.storage.test_documents import a_scope

from pegboard.errors import ConfigError
from pegboard.storage.knowledge.lazy_index import LazyKnowledgeIndex


async def test_it_is_not_opened_to_drop_what_is_not_loaded() -> None:
    def fail() -> Any:
        raise AssertionError("it was opened")

    await LazyKnowledgeIndex(fail).drop_deleted()


async def test_a_missing_extra_is_named() -> None:
    def fail() -> Any:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    with pytest.raises(ConfigError, match=r"pip install 'pegboard\[knowledge\]'"):
        await LazyKnowledgeIndex(fail).search_words({}, a_scope(), limit=1)


async def test_another_missing_module_is_a_fault() -> None:
    def fail() -> Any:
        raise ModuleNotFoundError("No module named 'other'", name="other")

    with pytest.raises(ModuleNotFoundError):
        await LazyKnowledgeIndex(fail).list_pieces("d1")

import subprocess
import sys
from functools import partial

import pytest
from langchain_core.tools import tool

from pegboard.sources.langchain.tools import adapt
from pegboard.tools.adapters import adapter_of


@tool
def add(a: int) -> int:
    """Add one."""
    return a + 1


def test_the_adapter_is_found_by_the_package_of_a_class() -> None:
    assert adapter_of(add) is adapt


def test_what_no_framework_made_has_no_adapter() -> None:
    class Mine:
        """Of this module."""

    assert adapter_of(partial(print)) is None
    assert adapter_of(Mine()) is None


@pytest.mark.slow
def test_looking_for_an_adapter_imports_no_framework() -> None:
    code = (
        "import sys; from fractions import Fraction; "
        "from pegboard.tools.adapters import adapter_of; "
        "adapter_of(Fraction(1)); assert 'langchain_core' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)

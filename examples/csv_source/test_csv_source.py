"""The plug keeps what every source promises."""

from pathlib import Path

from pegboard_csv import KIND
from pegboard_csv.config import CsvConfig

from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.testing import SourceContract


class TestCsvSource(SourceContract):
    """All tests are inherited."""

    kind = KIND

    async def open_source(self) -> Source:
        """The example's own data."""
        services = Services(base_dir=Path(__file__).parent)
        return await KIND.open("sky", CsvConfig(folder=Path("data")), services)

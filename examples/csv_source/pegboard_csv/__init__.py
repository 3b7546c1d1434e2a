"""A folder of CSV files as tools."""

from pegboard.core.ports.source import SourceKind
from pegboard_csv.config import CsvConfig
from pegboard_csv.source import open_csv

KIND = SourceKind(kind="csv", title="CSV files", config=CsvConfig, open=open_csv)

__all__ = ["KIND"]

"""Listeners that log, count, trace and remember what calls, runs and sources do."""

from pegboard.observability.log_records import LogRecords
from pegboard.observability.logs import JsonLog
from pegboard.observability.metrics import Metrics
from pegboard.observability.readable_lines import ReadableLines
from pegboard.observability.recent_calls import RecentCalls
from pegboard.observability.traces import Traces

__all__ = ["JsonLog", "LogRecords", "Metrics", "ReadableLines", "RecentCalls", "Traces"]

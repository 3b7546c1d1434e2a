"""Runs foreign code and commands in a sandbox, or not at all."""

from pegboard.sandbox.sandbox import BACK_ENDS, CODE, Finding, ProbedSandbox

__all__ = ["BACK_ENDS", "CODE", "Finding", "ProbedSandbox"]

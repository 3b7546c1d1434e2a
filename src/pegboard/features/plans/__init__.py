"""Plans: made, checked, and kept."""

from pegboard.features.plans.service import CheckedPlan, MadePlan, Plans

__all__ = ["CheckedPlan", "MadePlan", "Plans"]

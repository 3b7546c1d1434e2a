"""Plans: made, checked and stored before they run."""

from pegboard.features.plans.service import CheckedPlan, MadePlan, Plans

__all__ = ["CheckedPlan", "MadePlan", "Plans"]

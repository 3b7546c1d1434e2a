"""Finds rules of the policy that match nothing: misspelt ones, and those of unavailable sources."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pegboard.access import Policy
from pegboard.core.text.suggestions import did_you_mean
from pegboard.core.tool import ToolSpec
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.sources.state import SourceState

_SEPARATOR = "__"
_PROTECTING = frozenset({"deny", "ask", "rules"})
"""Sections whose misspelt rules leave a tool unprotected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedRule:
    """A rule that matches no tool.

    Attributes:
        section: `deny`, `ask`, `allow`, `limits` or `rules`.
        glob: The rule; of `rules` the condition.
        where: Its line, as `board.yaml:7`; empty without a board file, and for rules
            that a program gives.
        waits_for: Why a source that may have such tools does not list them now; empty when the
            rule is certain to match nothing.
        hint: The nearest name, as `did you mean 'shop__refund'?`; empty where none is near.
    """

    section: str
    glob: str
    where: str
    waits_for: str = ""
    hint: str = ""

    @property
    def protects(self) -> bool:
        """Whether the rule denies tools or asks about them."""
        return self.section in _PROTECTING

    @property
    def reason(self) -> str:
        """Why it matches nothing."""
        if self.waits_for:
            return f"no tool yet: {self.waits_for}"
        return f"it matches no tool; {self.hint}" if self.hint else "it matches no tool"

    def to_dict(self) -> dict[str, str]:
        """As JSON-compatible data."""
        return {
            "rule": self.section,
            "glob": self.glob,
            "where": self.where,
            "reason": self.reason,
        }


def find_unused_rules(
    policy: Policy, specs: Iterable[ToolSpec], *, loaded: LoadedBoard, missing: Mapping[str, str]
) -> list[UnusedRule]:
    """Find the rules that match no tool.

    Args:
        policy: The rules.
        specs: All tools, resources and prompts.
        loaded: The board file of the rules.
        missing: Why a source does not list all its tools now, by its name.
    """
    is_in_file = loaded.path is not None and loaded.policy is None
    known = list(specs)
    names = {spec.name for spec in known}
    return [
        UnusedRule(
            section=rule.section,
            glob=rule.glob,
            where=loaded.where(("policy", rule.section, rule.key)) if is_in_file else "",
            waits_for=next(
                (
                    why
                    for name, why in missing.items()
                    if rule.section == "rules" or may_match(rule.glob, name + _SEPARATOR)
                ),
                "",
            ),
            hint="" if rule.section == "rules" else did_you_mean(rule.glob, names),
        )
        for rule in policy.find_unused(known)
    ]


def refuse_unused_rules(rules: Iterable[UnusedRule], loaded: LoadedBoard) -> None:
    """Refuse a strict policy with a deny or ask rule that is certain to match nothing.

    Raises:
        ConfigError: One line per rule.
    """
    wrong = [rule for rule in rules if rule.protects and not rule.waits_for]
    if loaded.board.policy.strict and wrong:
        raise ConfigError(
            "\n".join(
                f"{rule.where or 'Pegboard(policy=...)'}: policy.{rule.section}: '{rule.glob}' "
                f"matches no tool, and the policy is strict; correct it, or remove it"
                f"{f' ({rule.hint})' if rule.hint else ''}"
                for rule in wrong
            )
        )


def missing_tools_of(states: Iterable[SourceState], loaded: LoadedBoard) -> dict[str, str]:
    """Why sources do not list all their tools now, by the name of the source."""
    missing: dict[str, str] = {}
    for state in states:
        if state.status != "ok":
            verb = "failed" if state.status == "failed" else f"is {state.status}"
            missing[state.name] = f"source '{state.name}' {verb}"
        elif state.held:
            missing[state.name] = f"source '{state.name}' has definitions that wait for approval"
    for entry in loaded.board.sources:
        if not entry.enabled:
            name = entry.name or entry.kind
            missing[name] = f"source '{name}' is disabled"
    return missing


def may_match(glob: str, beginning: str) -> bool:
    """Whether a glob matches some name that begins like this."""
    if not beginning or glob.startswith("*"):
        return True
    end = glob.find("]", 2) + 1 if glob.startswith("[") else 1
    part = glob[: end or 1]
    return (
        bool(part)
        and fnmatchcase(beginning[0], part)
        and may_match(glob[len(part) :], beginning[1:])
    )

"""Rules over single calls: conditions in CEL over the caller, the tool, the arguments, the time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct
from pydantic_core import to_jsonable_python

from pegboard.access.namesakes import names_of, other_names_of
from pegboard.access.visibility import find_owner
from pegboard.core.decision import Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.text.suggestions import nearest_names
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import OWNER_MARK
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.schemas.conditions import Condition, ConditionLanguage

_LANGUAGE = ConditionLanguage(
    {
        "principal": "object",
        "tool": "object",
        "args": "object",
        "run": "object",
        "now": "time",
    }
)
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "principal": ("id", "kind", "tenant", "roles", "scopes"),
    "tool": ("name", "id", "source", "category", "effect", "tags", "version"),
    "run": ("untrusted",),
}
"""The fields of the variables whose fields are known when a rule is read."""

_STRENGTHS = {Verdict.DENY: 3, Verdict.ASK: 2, Verdict.ALLOW: 1}
_MAX_REMEMBERED = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRule:
    """A rule of a policy that looks at the call itself.

    ```python
    CallRule(when="tool.name == 'shop__refund' && args.amount > 100", then="ask")
    ```

    Attributes:
        when: A condition in CEL over `principal` (`id`, `kind`, `tenant`, `roles`, `scopes`),
            `tool` (`name`, `id`, `source`, `category`, `effect`, `tags`, `version`), `args` (the
            validated arguments as JSON), `run` (`untrusted`: whether the run or conversation of the
            call has read untrusted text) and `now` (a timestamp). A condition that fails for a
            call denies it.
        then: `deny`, `ask` or `allow`, as the globs of a policy.
        reason: A sentence for the caller, in place of the condition.
        by: With `ask`, who may approve: `other` for anybody but those who asked for the call; empty
            for each approver.

    Raises:
        ConfigError: The condition does not compile, is none or names an unknown field; or the
            verdict is unknown.
    """

    when: str
    then: Verdict | Literal["deny", "ask", "allow"]
    reason: str = ""
    by: Literal["", "other"] = ""

    def __post_init__(self) -> None:
        try:
            _ = self.verdict
        except ValueError as error:
            known = ", ".join(Verdict)
            raise ConfigError(f"Policy: rules: '{self.then}' should be one of {known}") from error
        if self.by and self.verdict is not Verdict.ASK:
            raise ConfigError(f"Policy: rules: 'by' goes with 'ask', not with '{self.then}'")
        try:
            condition = self.condition
        except InvalidRequest as error:
            raise ConfigError(f"Policy: rules: {error.message}") from error
        if not condition.can_be_boolean:
            raise ConfigError(
                f"Policy: rules: '{self.when}' is neither true nor false: it gives {condition.kind}"
            )
        if fault := _find_unknown_field(condition):
            raise ConfigError(f"Policy: rules: '{self.when}': {fault}")

    @property
    def condition(self) -> Condition:
        """The compiled condition."""
        return _LANGUAGE.compile(self.when)

    @property
    def verdict(self) -> Verdict:
        """What holds where the condition does."""
        return Verdict(self.then)

    @property
    def is_strict(self) -> bool:
        """Whether the rule restricts, and so follows what runs under whatever name."""
        return self.verdict is not Verdict.ALLOW

    @property
    def looks_at_whole_tools(self) -> bool:
        """Whether the condition asks what is known of a tool, instead of naming it."""
        return any(
            mention.root == "tool" and (mention.asked or not mention.keys)
            for mention in self.condition.mentions
        )

    @property
    def looks_at_call(self) -> bool:
        """Whether the condition names what is known of a call alone."""
        return self.condition.names("args") or self.looks_at_run

    @property
    def looks_at_run(self) -> bool:
        """Whether the condition names the run of a call."""
        return self.condition.names("run")

    def may_hold(self, data: Mapping[str, Any]) -> bool | None:
        """Whether the rule holds wherever this is known; None where that depends on more.

        CEL gives the same answer to `a && b` in both orders, also where one of them fails, so that
        what is false without the rest of the data is false with it.
        """
        try:
            return self.condition.holds(data)
        except InvalidRequest:
            return None


class OpenRule(Struct, frozen=True, kw_only=True):
    """A rule that holds for some calls of a tool.

    Attributes:
        index: Of the rule in the policy.
        tools: The facts of the tool; several where it runs what another name runs too.
    """

    index: int
    rule: CallRule
    tools: tuple[Mapping[str, Any], ...]


class ToolRules(Struct, frozen=True, kw_only=True):
    """The rules that concern a tool.

    Attributes:
        standing: The strongest of those that hold for each of its calls; None for none.
        open: Those that hold for some calls.
    """

    standing: Decision | None = None
    open: tuple[OpenRule, ...] = ()


class CallRules:
    """The rules of a policy, sorted by tool, so that a call evaluates only those that concern it.

    Args:
        rules: In the order of the policy.
        now: Unix seconds.
    """

    def __init__(self, rules: Sequence[CallRule], *, now: Callable[[], float]) -> None:
        self._rules = tuple(rules)
        self._now = now
        self._of_tool: dict[int, tuple[ToolSpec, ToolRules]] = {}
        self._of_target: dict[tuple[str, int], tuple[str, ...]] = {}

    def forget(self) -> None:
        """Sort again, because tools that run the same have come or gone."""
        self._of_tool.clear()
        self._of_target.clear()

    def of_tool(self, tool: ToolSpec, namesakes: Callable[[], Iterable[str]]) -> ToolRules:
        """The rules that concern a tool.

        Args:
            tool: The tool.
            namesakes: The names of the tools that run the same, read where they are needed.
        """
        known = self._of_tool.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        if len(self._of_tool) >= _MAX_REMEMBERED:
            self._of_tool.clear()
        found = self._sort(tool, namesakes)
        self._of_tool[id(tool)] = (tool, found)
        return found

    def decide(
        self,
        rules: Sequence[OpenRule],
        principal: Principal,
        arguments: Mapping[str, Any] | None,
        *,
        untrusted: bool = False,
    ) -> Decision | None:
        """The strongest of the rules that hold for a call; None where none does.

        Args:
            rules: Those that concern the tool.
            principal: The caller.
            arguments: The validated arguments; None where they are not known, as in a list. Then
                a rule that depends on them, or on the run, does not count.
            untrusted: Whether the run of the call has read untrusted text.
        """
        data: dict[str, Any] = {
            "principal": {
                "id": principal.id,
                "kind": principal.kind,
                "tenant": principal.tenant,
                "roles": sorted(principal.roles),
                "scopes": sorted(principal.scopes),
            },
            "now": datetime.fromtimestamp(self._now(), UTC),
        }
        if arguments is not None:
            data["run"] = {"untrusted": untrusted}
            with suppress(ValueError):  # what is no JSON fails the rules that look at it
                data["args"] = to_jsonable_python(
                    dict(arguments), fallback=str, inf_nan_mode="strings"
                )
        found: list[Decision] = []
        for item in rules:
            for facts in item.tools:
                decision = _judge(item, {**data, "tool": facts}, is_call=arguments is not None)
                if decision is not None:
                    found.append(decision)
                    break
        return strongest(found)

    def holds_nowhere(self, index: int, tools: Iterable[ToolSpec]) -> bool:
        """Whether a rule holds for no call of these tools, as a misspelt one."""
        return all(
            self._rules[index].may_hold({"tool": _facts(tool, name)}) is False
            for tool in tools
            for name in _names(tool, self._rules[index])
        )

    def _sort(self, tool: ToolSpec, namesakes: Callable[[], Iterable[str]]) -> ToolRules:
        standing: list[Decision] = []
        some: list[OpenRule] = []
        owner = find_owner(tool.source)
        for index, rule in enumerate(self._rules):
            if owner and not rule.is_strict and f"{owner}{OWNER_MARK}" not in rule.when:
                continue  # only the tools of operators are allowed without the owner's name
            names = dict.fromkeys(_names(tool, rule))
            if tool.target and rule.is_strict:
                names |= dict.fromkeys(self._find_namesakes(index, tool.target, namesakes))
            facts = [_facts(tool, name) for name in names]
            answers = [rule.may_hold({"tool": item}) for item in facts]
            if True in answers:
                standing.append(_decision(index, rule))
            elif None in answers:
                undecided = tuple(
                    item for item, answer in zip(facts, answers, strict=True) if answer is None
                )
                some.append(OpenRule(index=index, rule=rule, tools=undecided))
        return ToolRules(standing=strongest(standing), open=tuple(some))

    def _find_namesakes(
        self, index: int, target: str, namesakes: Callable[[], Iterable[str]]
    ) -> tuple[str, ...]:
        """The names of other tools that run this for which a rule is not false; found once."""
        key = (target, index)
        if key not in self._of_target:
            rule = self._rules[index]
            self._of_target[key] = tuple(
                name
                for name in namesakes()
                if rule.looks_at_whole_tools or rule.may_hold({"tool": {"name": name}}) is not False
            )
        return self._of_target[key]


def strongest(decisions: Iterable[Decision]) -> Decision | None:
    """The first of the strictest decisions: deny beats ask beats allow; None of none.

    Of two that ask, the one that another person has to approve is the stricter.
    """
    return max(decisions, key=lambda item: (_STRENGTHS[item.verdict], bool(item.by)), default=None)


def _judge(item: OpenRule, data: Mapping[str, Any], *, is_call: bool) -> Decision | None:
    try:
        return _decision(item.index, item.rule) if item.rule.condition.holds(data) else None
    except InvalidRequest as error:
        if not is_call and item.rule.looks_at_call:
            return None
        return Decision(
            verdict=Verdict.DENY,
            reason=f"a rule of the policy could not be decided: {error.message}",
            rule=f"policy.rules[{item.index}]",
        )


def _decision(index: int, rule: CallRule) -> Decision:
    return Decision(
        verdict=rule.verdict,
        reason=rule.reason or f"the policy's {rule.verdict.value} rule '{rule.when}' holds",
        rule=f"policy.rules[{index}]",
        by=rule.by,
    )


def _names(tool: ToolSpec, rule: CallRule) -> tuple[str, ...]:
    return (*names_of(tool), *other_names_of(tool)) if rule.is_strict else names_of(tool)


def _find_unknown_field(condition: Condition) -> str:
    """What is wrong with a field that no caller, tool or run has; empty where all are known.

    Such a condition would fail for each call, and so deny it.
    """
    for mention in condition.mentions:
        known = _FIELDS.get(mention.root, ())
        field = mention.keys[0] if mention.keys else ""
        if known and isinstance(field, str) and field and field not in known:
            near = nearest_names(field, known, most=1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
            return f"there is no field '{mention.root}.{field[:40]}'; {hint}"
    return ""


def _facts(tool: ToolSpec, name: str) -> Mapping[str, Any]:
    """What a rule may know of a tool."""
    return {
        "name": name,
        "id": tool.id,
        "source": tool.source,
        "category": tool.category,
        "effect": tool.effect.value,
        "tags": list(tool.tags),
        "version": tool.version,
    }

"""`Policy`: which tools and calls are denied, need an approval or are allowed; and limits."""

import copy
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from pegboard.access.call_rules import CallRule, CallRules, OpenRule, ToolRules, strongest
from pegboard.access.namesakes import Namesakes, names_of, other_names_of
from pegboard.access.visibility import ResourceIndex, find_owner
from pegboard.core.argument_origin import ArgumentOrigins
from pegboard.core.decision import Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Limits, ToolSpec
from pegboard.core.wire_names import OWNER_MARK
from pegboard.errors import ConfigError

DEFAULT_EFFECTS: Mapping[Effect, Verdict] = MappingProxyType(
    {
        Effect.READ: Verdict.ALLOW,
        Effect.WRITE: Verdict.ALLOW,
        Effect.ADMIN: Verdict.ASK,
    }
)
"""The defaults of the library, the command line and a single-user server."""

_DEFAULT = "default."
"""Begins the rule of a decision that is none of the policy's."""
UNTRUSTED = "default.untrusted"
"""The rule of a decision about a call in a run that has read untrusted text."""
_UNTRUSTED = "the run has read text that is not trusted, and this call changes something outside"
NAMED = "default.named"
"""The rule of a decision about such a call whose caller has named what it acts on."""
_NAMED = (
    "the run has read text that is not trusted, and the caller has named what this call acts on"
)
_RULE = re.compile(r"policy\.rules\[(\d+)\]")
_MAX_REMEMBERED = 50_000
_Member = TypeVar("_Member", Effect, Verdict)


class Ask(NamedTuple):
    """A glob of `Policy.ask` that says who may approve.

    Attributes:
        tool: The glob.
        by: `other` for anybody but those who asked for the call; empty for each approver.
    """

    tool: str
    by: Literal["", "other"] = ""


class Rule(NamedTuple):
    """A glob of a policy and its place: `deny`, `ask`, `allow` or `limits`, and index or key.

    For `rules` it is the condition.
    """

    section: str
    key: int | str
    glob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A rule set; deny beats ask beats allow beats the default of the tool's effect.

    A rule that restricts (`deny`, `ask`, `limits`) follows what runs: it holds for every tool that
    runs the same function, under whatever name. An `allow` holds for the name alone, and for tools
    that another person than an operator has connected only where it names that person: `ada--*`.

    ```python
    Policy(deny=("*delete*",), ask=("shop__refund",))
    ```

    Attributes:
        deny: Globs over wire names (`*`, `?`, `[...]`, case-sensitive), as are the others. A
            tool that a view has renamed matches by both names.
        ask: Tools whose calls a person must approve; an `Ask` also says which person.
        allow: Tools that need no approval, whatever their effect.
        effects: The verdicts for tools that match no glob; a missing effect keeps its default.
        limits: Glob to limits; all matching limits apply.
        rules: Conditions over single calls, as strong as globs of the same verdict.
        untrusted: The verdict for a write that leaves the board, of a caller with an account, in a
            run that has read untrusted text; for tools that match no glob and no rule.
        trust_messages: Whether `untrusted: ask` asks about no call whose caller has named what it
            acts on, in a message of the conversation.
    """

    deny: tuple[str, ...] = ()
    ask: tuple[str | Ask, ...] = ()
    allow: tuple[str, ...] = ()
    effects: Mapping[Effect, Verdict] = field(default_factory=lambda: DEFAULT_EFFECTS)
    limits: Mapping[str, Limits] = field(default_factory=dict[str, Limits])
    rules: tuple[CallRule, ...] = ()
    untrusted: Verdict = Verdict.ALLOW
    trust_messages: bool = True
    _standing: dict[int, tuple[ToolSpec, Decision]] = field(
        default_factory=dict[int, tuple[ToolSpec, Decision]],
        init=False,
        compare=False,
        repr=False,
    )
    _namesakes: Namesakes = field(default_factory=Namesakes, init=False, compare=False, repr=False)
    _resources: ResourceIndex = field(
        default_factory=ResourceIndex, init=False, compare=False, repr=False
    )
    _matched: dict[tuple[str, str], str] = field(
        default_factory=dict[tuple[str, str], str], init=False, compare=False, repr=False
    )
    _call_rules: CallRules = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.rules, CallRule) or any(isinstance(r, Mapping) for r in self.rules):
            raise ConfigError(
                'Policy: rules takes several rules: write (CallRule(when="...", then="ask"),)'
            )
        object.__setattr__(self, "_call_rules", CallRules(self.rules, now=time.time))
        for name in ("deny", "ask", "allow"):
            if isinstance(getattr(self, name), (str, Ask)):
                raise ConfigError(f"Policy: '{name}' takes several globs: write {name}=(\"...\",)")
        object.__setattr__(self, "untrusted", _member(Verdict, self.untrusted))
        if self.effects is not DEFAULT_EFFECTS:
            effects = {
                _member(Effect, key): _member(Verdict, self.effects[key]) for key in self.effects
            }
            object.__setattr__(self, "effects", MappingProxyType(effects))
        for glob, limits in self.limits.items():
            if isinstance(limits, Mapping):
                raise ConfigError(
                    f"Policy: the limits of '{glob}' take Limits: write Limits(rate=5)"
                )

    @property
    def resource_index(self) -> ResourceIndex:
        """Who may see which sources of the registry that it is bound to."""
        return self._resources

    def bind(
        self,
        namesakes: Namesakes,
        *,
        now: Callable[[], float] = time.time,
        resources: ResourceIndex | None = None,
    ) -> "Policy":
        """The same rules for the tools of one registry, by its clock (Unix seconds)."""
        bound = copy.copy(self)
        object.__setattr__(bound, "_call_rules", CallRules(self.rules, now=now))
        object.__setattr__(bound, "_namesakes", namesakes)
        object.__setattr__(bound, "_resources", resources or ResourceIndex())
        object.__setattr__(bound, "_standing", {})
        object.__setattr__(bound, "_matched", {})
        return bound

    def forget_decisions(self) -> None:
        """Decide again about each tool, because others that run the same have come or gone."""
        self._standing.clear()
        self._matched.clear()
        self._call_rules.forget()

    def decide(self, tool: ToolSpec) -> Decision:
        """The decision for a tool, for any caller; cached, since specs are frozen.

        Rules that hold for some calls only do not count.
        """
        known = self._standing.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        if len(self._standing) >= _MAX_REMEMBERED:
            self._standing.clear()
        decision = self._judge(tool)
        if self.rules and (found := self._rules_of(tool).standing) is not None:
            decision = _combine(decision, found)
        self._standing[id(tool)] = (tool, decision)
        return decision

    def decide_call(
        self,
        principal: Principal,
        tool: ToolSpec,
        arguments: Mapping[str, Any] | None,
        *,
        untrusted: bool = False,
    ) -> Decision:
        """The decision for one call, or for a list where the arguments are None."""
        standing = self.decide(tool)
        if not self.rules or (standing.verdict is Verdict.DENY and not _is_default(standing)):
            return standing
        rules = self._rules_of(tool).open
        found = (
            self._call_rules.decide(rules, principal, arguments, untrusted=untrusted)
            if rules
            else None
        )
        return standing if found is None else _combine(standing, found)

    def decide_untrusted(
        self,
        principal: Principal,
        tool: ToolSpec,
        standing: Decision,
        *,
        origins: ArgumentOrigins | None = None,
    ) -> Decision:
        """The decision for a call in a run that has read untrusted text.

        Args:
            principal: The caller.
            tool: The tool.
            standing: The decision without that.
            origins: Where its arguments come from; None where that is not known.
        """
        is_default = standing.allowed and _is_default(standing)
        if not (is_default and principal.user and self.holds_untrusted(tool)):
            return standing
        if origins is None or not self.traces_arguments:
            return Decision(verdict=self.untrusted, reason=_UNTRUSTED, rule=UNTRUSTED)
        if origins.are_named:
            return Decision(verdict=Verdict.ALLOW, reason=_NAMED, rule=NAMED)
        reason = f"{_UNTRUSTED}: {origins.reason}"
        return Decision(verdict=self.untrusted, reason=reason, rule=UNTRUSTED)

    @property
    def traces_arguments(self) -> bool:
        """Whether calls are decided by where their arguments come from."""
        return self.trust_messages and self.untrusted is Verdict.ASK

    def holds_untrusted(self, tool: ToolSpec) -> bool:
        """Whether calls of a tool are decided otherwise once a run has read untrusted text."""
        return self.untrusted is not Verdict.ALLOW and tool.leaves_board

    def asks_for_trust(self, decision: Decision) -> bool:
        """Whether a decision comes from what the run has read: no standing approval answers it."""
        if decision.rule == UNTRUSTED:
            return True
        found = _RULE.fullmatch(decision.rule)
        return found is not None and self.rules[int(found[1])].looks_at_run

    def looks_at_run(self, tool: ToolSpec) -> bool:
        """Whether a rule for some calls of a tool looks at the run."""
        return any(item.rule.looks_at_run for item in self.find_call_rules(tool))

    def may_ask(self, tool: ToolSpec) -> bool:
        """Whether a call of a tool may need an approval."""
        if self.decide(tool).verdict is Verdict.ASK:
            return True
        if self.untrusted is Verdict.ASK and self.holds_untrusted(tool):
            return True
        return any(item.rule.verdict is Verdict.ASK for item in self.find_call_rules(tool))

    def find_call_rules(self, tool: ToolSpec) -> tuple[OpenRule, ...]:
        """The rules that hold for some calls of a tool."""
        return self._rules_of(tool).open if self.rules else ()

    def decide_by(
        self, rule: OpenRule, principal: Principal, arguments: Mapping[str, Any] | None
    ) -> Decision | None:
        """The decision of one of these rules for a call; None where it does not hold."""
        return self._call_rules.decide((rule,), principal, arguments)

    def _rules_of(self, tool: ToolSpec) -> ToolRules:
        return self._call_rules.of_tool(tool, lambda: self._namesakes.find(tool.target))

    def find_unused(self, tools: Iterable[ToolSpec]) -> tuple[Rule, ...]:
        """The rules that match none of these tools, such as misspelt ones."""
        known = tuple(tools)
        names = {name for tool in known for name in names_of(tool)}
        all_names = names.union(*map(other_names_of, known))
        globs = [
            rule
            for rule in self._globs()
            if not any(
                map(
                    re.compile(translate(rule.glob)).match,
                    names if rule.section == "allow" else all_names,
                )
            )
        ]
        conditions = [
            Rule("rules", index, rule.when)
            for index, rule in enumerate(self.rules)
            if self._call_rules.holds_nowhere(index, known)
        ]
        return (*globs, *conditions)

    def limits_for(self, tool: ToolSpec) -> tuple[tuple[str, Limits], ...]:
        """The limits of a tool, each with the glob that names its bucket."""
        matching = [
            (glob, item) for glob, item in self.limits.items() if self._find_match(tool, glob)
        ]
        if tool.limits is not None:
            matching.append((tool.registered_name or tool.name, tool.limits))
        return tuple(matching)

    def _globs(self) -> Iterator[Rule]:
        for section in ("deny", "ask", "allow"):
            for index, item in enumerate(getattr(self, section)):
                yield Rule(section, index, _glob_of(item))
        for glob in self.limits:
            yield Rule("limits", glob, glob)

    def _judge(self, tool: ToolSpec) -> Decision:
        found = self._judge_by_globs(tool)
        if found is not None:
            return found
        verdict = self.effects.get(tool.effect, DEFAULT_EFFECTS[tool.effect])
        return Decision(
            verdict=verdict,
            reason=f"the default for tools that {_PHRASES[tool.effect]} is {verdict.value}",
            rule=f"{_DEFAULT}{tool.effect.value}",
        )

    def _judge_by_globs(self, tool: ToolSpec) -> Decision | None:
        """The strictest decision of the globs; None where none matches."""
        for verdict, name, globs in (
            (Verdict.DENY, "deny", self.deny),
            (Verdict.ASK, "ask", self.ask),
            (Verdict.ALLOW, "allow", self.allow),
        ):
            is_strict = verdict is not Verdict.ALLOW
            found: list[Decision] = []
            for index, item in enumerate(globs):
                glob = _glob_of(item)
                if not is_strict and not _may_allow(glob, find_owner(tool.source)):
                    continue
                matched = self._find_match(tool, glob, is_strict=is_strict)
                if matched:
                    of = (
                        ""
                        if matched in (*names_of(tool), tool.alias)
                        else f" '{matched}', which it runs"
                    )
                    found.append(
                        Decision(
                            verdict=verdict,
                            reason=f"the policy's {name} rule '{glob}' matches{of}",
                            rule=f"policy.{name}[{index}]",
                            by=item.by if isinstance(item, Ask) else "",
                        )
                    )
            if found:
                return strongest(found)
        return None

    def _find_match(self, tool: ToolSpec, glob: str, *, is_strict: bool = True) -> str:
        """The name of a tool that a glob matches; empty for none.

        Args:
            tool: The tool.
            glob: The pattern of a rule.
            is_strict: Whether the rule restricts, and so follows what runs.
        """
        others = other_names_of(tool) if is_strict else ()
        matched = _match_first((*names_of(tool), *others), glob)
        if matched or not is_strict or not tool.target:
            return matched
        key = (tool.target, glob)
        if key not in self._matched:  # a function may have thousands of names
            self._matched[key] = _match_first(self._namesakes.find(tool.target), glob)
        return self._matched[key]


def _combine(standing: Decision, found: Decision) -> Decision:
    """The stricter of two; a rule that is found beats the default of an effect in any case."""
    return found if _is_default(standing) else strongest((standing, found)) or found


def _glob_of(item: str | Ask) -> str:
    return item.tool if isinstance(item, Ask) else item


def _is_default(decision: Decision) -> bool:
    return decision.rule.startswith(_DEFAULT)


def _member(kind: type[_Member], value: str) -> _Member:
    """The member of an enumeration, also where its text is given."""
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(kind)
        raise ConfigError(f"Policy: effects: '{value}' should be one of {known}") from error


def _may_allow(glob: str, owner: str) -> bool:
    """Whether an `allow` covers tools of this owner: those of operators, or where it says so."""
    return not owner or glob.startswith(f"{owner}{OWNER_MARK}")


def _match_first(names: Iterable[str], glob: str) -> str:
    return next((name for name in names if name and fnmatchcase(name, glob)), "")


_PHRASES: Mapping[Effect, str] = {
    Effect.READ: "read",
    Effect.WRITE: "write",
    Effect.ADMIN: "administer",
}

"""`Policy`: which tools are denied, need an approval or are allowed, and their limits."""

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase, translate
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, TypeVar

from pegboard.access.namesakes import Namesakes
from pegboard.core.decision import Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Limits, ToolSpec
from pegboard.errors import ConfigError

DEFAULT_EFFECTS: Mapping[Effect, Verdict] = MappingProxyType(
    {
        Effect.READ: Verdict.ALLOW,
        Effect.WRITE: Verdict.ALLOW,
        Effect.ADMIN: Verdict.ASK,
    }
)
"""The defaults of the library, the command line and a single-user server."""

_MAX_REMEMBERED = 50_000
_Member = TypeVar("_Member", Effect, Verdict)


class Rule(NamedTuple):
    """A glob of a policy and its place: `deny`, `ask`, `allow` or `limits`, and index or key."""

    section: str
    key: int | str
    glob: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A rule set; deny beats ask beats allow beats the default of the tool's effect.

    A rule that restricts (`deny`, `ask`, `limits`) follows what runs: it holds for every tool that
    runs the same function, under whatever name. An `allow` holds for the name alone.

    ```python
    Policy(deny=("*delete*",), ask=("shop__refund",))
    ```

    Attributes:
        deny: Globs over wire names (`*`, `?`, `[...]`, case-sensitive), as are the others. A
            tool that a view has renamed matches by both names.
        ask: Tools whose calls a person must approve.
        allow: Tools that need no approval, whatever their effect.
        effects: The verdicts for tools that match no glob; a missing effect keeps its default.
        limits: Glob to limits; all matching limits apply.
        has_call_rules: Whether `decide_call` looks at the caller or the arguments; then every tool
            may need an approval for some call.
    """

    has_call_rules: ClassVar[bool] = False

    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    effects: Mapping[Effect, Verdict] = field(default_factory=lambda: DEFAULT_EFFECTS)
    limits: Mapping[str, Limits] = field(default_factory=dict[str, Limits])
    _standing: dict[int, tuple[ToolSpec, Decision]] = field(
        default_factory=dict[int, tuple[ToolSpec, Decision]],
        init=False,
        compare=False,
        repr=False,
    )
    _namesakes: Namesakes = field(default_factory=Namesakes, init=False, compare=False, repr=False)
    _matched: dict[tuple[str, str], str] = field(
        default_factory=dict[tuple[str, str], str], init=False, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        for name in ("deny", "ask", "allow"):
            if isinstance(getattr(self, name), str):
                raise ConfigError(f"Policy: '{name}' takes several globs: write {name}=(\"...\",)")
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

    def bind(self, namesakes: Namesakes) -> "Policy":
        """The same rules for the tools of one registry."""
        bound = copy.copy(self)
        object.__setattr__(bound, "_namesakes", namesakes)
        object.__setattr__(bound, "_standing", {})
        object.__setattr__(bound, "_matched", {})
        return bound

    def forget_decisions(self) -> None:
        """Decide again about each tool, because others that run the same have come or gone."""
        self._standing.clear()
        self._matched.clear()

    def decide(self, tool: ToolSpec) -> Decision:
        """The decision of the rules for a tool, for any caller; cached, since specs are frozen."""
        known = self._standing.get(id(tool))
        if known is not None and known[0] is tool:
            return known[1]
        if len(self._standing) >= _MAX_REMEMBERED:
            self._standing.clear()
        decision = self._judge(tool)
        self._standing[id(tool)] = (tool, decision)
        return decision

    def decide_call(
        self,
        principal: Principal,  # noqa: ARG002 - for rules that look at the caller
        tool: ToolSpec,
        arguments: Mapping[str, Any] | None,  # noqa: ARG002 - for rules that look at them
    ) -> Decision:
        """The decision for one call; asked only where there are such rules."""
        return self.decide(tool)

    def may_ask(self, tool: ToolSpec) -> bool:
        """Whether a call of a tool may need an approval."""
        return self.has_call_rules or self.decide(tool).verdict is Verdict.ASK

    def find_unused(self, tools: Iterable[ToolSpec]) -> tuple[Rule, ...]:
        """The rules that match none of these tools, such as misspelt ones."""
        names: set[str] = set()
        others: set[str] = set()
        for tool in tools:
            names.update(_names_of(tool))
            others.update((tool.alias, _function_of(tool)))
        others.discard("")
        return tuple(
            rule
            for rule in self._rules()
            if not any(
                map(
                    re.compile(translate(rule.glob)).match,
                    names if rule.section == "allow" else names | others,
                )
            )
        )

    def limits_for(self, tool: ToolSpec) -> tuple[tuple[str, Limits], ...]:
        """The limits of a tool, each with the glob that names its bucket."""
        matching = [
            (glob, item) for glob, item in self.limits.items() if self._find_match(tool, glob)
        ]
        if tool.limits is not None:
            matching.append((tool.registered_name or tool.name, tool.limits))
        return tuple(matching)

    def _rules(self) -> Iterator[Rule]:
        for section in ("deny", "ask", "allow"):
            for index, glob in enumerate(getattr(self, section)):
                yield Rule(section, index, glob)
        for glob in self.limits:
            yield Rule("limits", glob, glob)

    def _judge(self, tool: ToolSpec) -> Decision:
        for verdict, name, globs in (
            (Verdict.DENY, "deny", self.deny),
            (Verdict.ASK, "ask", self.ask),
            (Verdict.ALLOW, "allow", self.allow),
        ):
            is_strict = verdict is not Verdict.ALLOW
            for index, glob in enumerate(globs):
                matched = self._find_match(tool, glob, is_strict=is_strict)
                if matched:
                    of = (
                        ""
                        if matched in (*_names_of(tool), tool.alias)
                        else f" '{matched}', which it runs"
                    )
                    return Decision(
                        verdict=verdict,
                        reason=f"the policy's {name} rule '{glob}' matches{of}",
                        rule=f"policy.{name}[{index}]",
                    )
        verdict = self.effects.get(tool.effect, DEFAULT_EFFECTS[tool.effect])
        return Decision(
            verdict=verdict,
            reason=f"the default for tools that {_PHRASES[tool.effect]} is {verdict.value}",
            rule=f"default.{tool.effect.value}",
        )

    def _find_match(self, tool: ToolSpec, glob: str, *, is_strict: bool = True) -> str:
        """The name of a tool that a glob matches; empty for none.

        Args:
            tool: The tool.
            glob: The pattern of a rule.
            is_strict: Whether the rule restricts, and so follows what runs.
        """
        others = (tool.alias, _function_of(tool)) if is_strict else ()
        matched = _match_first((*_names_of(tool), *others), glob)
        if matched or not is_strict or not tool.target:
            return matched
        key = (tool.target, glob)
        if key not in self._matched:  # a function may have thousands of names
            self._matched[key] = _match_first(self._namesakes.find(tool.target), glob)
        return self._matched[key]


def _member(kind: type[_Member], value: str) -> _Member:
    """The member of an enumeration, also where its text is given."""
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(kind)
        raise ConfigError(f"Policy: effects: '{value}' should be one of {known}") from error


def _match_first(names: Iterable[str], glob: str) -> str:
    return next((name for name in names if name and fnmatchcase(name, glob)), "")


def _names_of(tool: ToolSpec) -> tuple[str, ...]:
    return (tool.name, tool.registered_name) if tool.registered_name else (tool.name,)


def _function_of(tool: ToolSpec) -> str:
    """The own name of the function that a tool runs, where the tool has another; else empty."""
    own = tool.target.partition("#")[0].rpartition(":")[2].rpartition(".")[2]
    is_other = own.isidentifier() and own != (tool.action or tool.name)
    return own if is_other and not own.startswith("__") else ""


_PHRASES: Mapping[Effect, str] = {
    Effect.READ: "read",
    Effect.WRITE: "write",
    Effect.ADMIN: "administer",
}

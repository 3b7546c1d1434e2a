"""`Policy`: which tools are denied, need an approval or are allowed, and their limits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

from pegboard.core.decision import Decision, Verdict
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A rule set; deny beats ask beats allow beats the default of the tool's effect.

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
    """

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

    def __post_init__(self) -> None:
        for name in ("deny", "ask", "allow"):
            if isinstance(getattr(self, name), str):
                raise ConfigError(f"Policy: '{name}' takes several globs: write {name}=(\"...\",)")

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

    def find_unused(self, names: Iterable[str]) -> tuple[str, ...]:
        """The globs that match none of these names, such as misspelt ones."""
        known = tuple(names)
        globs = dict.fromkeys((*self.deny, *self.ask, *self.allow, *self.limits))
        return tuple(glob for glob in globs if not any(fnmatchcase(n, glob) for n in known))

    def limits_for(self, tool: ToolSpec) -> tuple[tuple[str, Limits], ...]:
        """The limits of a tool, each with the glob that names its bucket."""
        matching = [(glob, item) for glob, item in self.limits.items() if _is_named(tool, glob)]
        if tool.limits is not None:
            matching.append((tool.registered_name or tool.name, tool.limits))
        return tuple(matching)

    def _judge(self, tool: ToolSpec) -> Decision:
        for verdict, name, globs in (
            (Verdict.DENY, "deny", self.deny),
            (Verdict.ASK, "ask", self.ask),
            (Verdict.ALLOW, "allow", self.allow),
        ):
            for index, glob in enumerate(globs):
                if _is_named(tool, glob):
                    return Decision(
                        verdict=verdict,
                        reason=f"the policy's {name} rule '{glob}' matches",
                        rule=f"policy.{name}[{index}]",
                    )
        verdict = self.effects.get(tool.effect, DEFAULT_EFFECTS[tool.effect])
        return Decision(
            verdict=verdict,
            reason=f"the default for tools that {_PHRASES[tool.effect]} is {verdict.value}",
            rule=f"default.{tool.effect.value}",
        )


def _is_named(tool: ToolSpec, glob: str) -> bool:
    if fnmatchcase(tool.name, glob):
        return True
    return bool(tool.registered_name) and fnmatchcase(tool.registered_name, glob)


_PHRASES: Mapping[Effect, str] = {
    Effect.READ: "read",
    Effect.WRITE: "write",
    Effect.ADMIN: "administer",
}

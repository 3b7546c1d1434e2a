"""Turns the `policy` section of a board into the rules of `decide`."""

import re
from collections.abc import Iterator
from dataclasses import replace

from pegboard.access import CallRule, Policy
from pegboard.access.policy import DEFAULT_EFFECTS, Ask
from pegboard.core.decision import Verdict
from pegboard.core.tool import Effect, Limits
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import LimitEntry, PolicyEntry, parse_member

_RATE = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d*)\s*(s|sec|second|m|min|minute|h|hour|d|day)s?\s*"
)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def with_policy(loaded: LoadedBoard, policy: Policy | None) -> LoadedBoard:
    """The board with the rules that a program gives; unchanged without any.

    Raises:
        ConfigError: The board file has rules too.
    """
    if policy is None:
        return loaded
    if loaded.board.policy.model_copy(update={"strict": False}) != PolicyEntry():
        raise ConfigError(
            f"{loaded.where(('policy',))}: the program gives a policy too, as "
            "Pegboard(policy=...); write the rules in one place"
        )
    return replace(loaded, policy=policy)


def policy_of(loaded: LoadedBoard) -> Policy:
    """The rules of a board.

    Raises:
        ConfigError: An unknown effect or verdict, a rate that cannot be read, or a condition that
            does not compile.
    """
    if loaded.policy is not None:
        return loaded.policy
    entry = loaded.board.policy
    for place, glob in _globs(entry):
        if "[" in glob.replace("[[]", "") and "]" not in glob.partition("[")[2]:
            raise ConfigError(
                f"{loaded.where(('policy', *place))}: '{glob}' has an unclosed '[' and would "
                "match nothing"
            )
    effects = dict(DEFAULT_EFFECTS)
    for effect, verdict in entry.effects.items():
        where = loaded.where(("policy", "effects", effect))
        effects[parse_member(Effect, effect, where)] = parse_member(Verdict, verdict, where)
    limits = {
        glob: limits_of(item, loaded.where(("policy", "limits", glob)))
        for glob, item in entry.limits.items()
    }
    return Policy(
        deny=entry.deny,
        ask=tuple(item if isinstance(item, str) else Ask(item.tool, item.by) for item in entry.ask),
        allow=entry.allow,
        effects=effects,
        limits=limits,
        rules=tuple(_call_rules(loaded)),
        untrusted=Verdict(entry.untrusted),
        trust_messages=entry.trust_messages,
    )


def _call_rules(loaded: LoadedBoard) -> Iterator[CallRule]:
    for index, rule in enumerate(loaded.board.policy.rules):
        try:
            yield CallRule(when=rule.when, then=Verdict(rule.then), reason=rule.reason, by=rule.by)
        except ConfigError as error:
            where = loaded.where(("policy", "rules", index))
            raise ConfigError(f"{where}: {error.message}") from error


def _globs(entry: PolicyEntry) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every glob of a policy with its path."""
    for name, globs in (("deny", entry.deny), ("ask", entry.ask), ("allow", entry.allow)):
        for index, item in enumerate(globs):
            yield (name, index), item if isinstance(item, str) else item.tool
    for glob in entry.limits:
        yield ("limits", glob), glob


def limits_of(entry: LimitEntry, where: str) -> Limits:
    """`{rate: "20/s", concurrency: 4}` as limits.

    Raises:
        ConfigError: The rate cannot be read.
    """
    if entry.rate is None:
        return Limits(concurrency=entry.concurrency)
    match = _RATE.fullmatch(entry.rate)
    if match is None or float(match.group(1)) == 0 or match.group(2) == "0":
        raise ConfigError(
            f"{where}: '{entry.rate}' is not a rate; write it as '20/s', '100/min' or '5/10s'"
        )
    per = float(match.group(2) or 1) * _SECONDS[match.group(3)[0]]
    return Limits(rate=float(match.group(1)), per=per, concurrency=entry.concurrency)

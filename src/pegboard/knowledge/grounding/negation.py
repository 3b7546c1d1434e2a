"""Negation, and words that say the opposite of each other."""

import re
from collections.abc import Collection

from pegboard.knowledge.grounding.patterns import any_of
from pegboard.knowledge.grounding.words import stem

_NEGATIVES = (
    r"not|no|never|none|nobody|nothing|nowhere|neither|nor|cannot|without|hardly|barely|"
    r"scarcely|nicht|kein\w*|nie|niemals|niemand|nichts|ohne|weder|kaum|nirgends|jamais|"
    r"aucune?|sans|rien|nunca|ningún|ninguna?|sin|jamás|nada"
)
_NEGATION = any_of(
    rf"""
    \b(?:{_NEGATIVES})\b
    n['’]t\b / \bn['’](?=\w) / \bne\b.{{1,30}}\bpas\b / [不没沒無无未非否勿]
    ない / ません / なかった
    """
)
_NO_NEGATION = any_of(
    r"""
    \bnot only\b / \bnot just\b / \bnot to mention\b / \bno\.\s*\d / \bno doubt\b
    \bwithout (?:a )?doubt\b / \bno matter\b / \bnicht nur\b / \bwhether or not\b
    \bno later than\b / \bno longer than\b / \bno more than\b / \bno less than\b
    \bno fewer than\b / 不仅 / 不但 / 不同 / 非常 / 无论 / 未来 / 不过 / 不断 / 是否
    """
)
_OPPOSITES = """
allow forbid; allowed forbidden; allowed prohibited; permitted prohibited; permitted forbidden;
legal illegal; possible impossible; able unable; required optional; mandatory optional; mandatory
voluntary; compulsory voluntary; enabled disabled; enable disable; open closed; include exclude;
included excluded; including excluding; accept reject; accepted rejected; approve reject; approved
rejected; approve deny; approved denied; increase decrease; increased decreased; rise fall; rose
fell; gain loss; win lose; won lost; success failure; succeed fail; true false; right wrong;
correct incorrect; valid invalid; safe unsafe; safe dangerous; safe harmful; harmless harmful;
high low; higher lower; highest lowest; large small; larger smaller; big small; more less; most
least; maximum minimum; before after; early late; earlier later; first last; start end; begin end;
always never; all none; often rarely; frequently rarely; common rare; common uncommon; popular
unpopular; known unknown; likely unlikely; important unimportant; necessary unnecessary;
sufficient insufficient; enough insufficient; healthy unhealthy; hot cold; warm cold; hard soft;
strong weak; fast slow; cheap expensive; free paid; public private; inside outside; above below;
over under; up down; present absent; alive dead; friend enemy; love hate; like dislike; support
oppose; agree disagree; happy unhappy; similar different; same different; real fictional;
fictional historical; natural artificial; visible invisible; full empty; wet dry; male female;
north south; east west; northern southern; eastern western; left right; positive negative; guilty
innocent; victory defeat; buy sell; import export; married unmarried; refundable nonrefundable;
compatible incompatible; edible inedible; connected unconnected; dependent independent; direct
indirect; complete incomplete; active inactive; regular irregular; rational irrational; aware
unaware; reject accept; contain lack; have lack; has lacks; single multiple; temporary permanent;
voluntary forced; erlaubt verboten; erlaubt untersagt; gestattet verboten; möglich unmöglich;
zulässig unzulässig; gültig ungültig; offen geschlossen; geöffnet geschlossen; pflicht freiwillig;
verpflichtend freiwillig; hoch niedrig; höher niedriger; groß klein; mehr weniger; maximal
minimal; vor nach; immer nie; alle keine; steigt sinkt; steigen sinken; richtig falsch; wahr
falsch; mit ohne; innerhalb außerhalb; aktiviert deaktiviert; angenommen abgelehnt; genehmigt
abgelehnt; sicher unsicher; kostenlos kostenpflichtig; inklusive exklusive; warm kalt; alt neu
"""
_PAIRS = frozenset(
    frozenset(map(stem, pair.split())) for pair in _OPPOSITES.split(";") if len(pair.split()) == 2
)
_WIDE_OPPOSITES = """
允许 禁止; 可以 禁止; 增加 减少; 上升 下降; 开放 关闭; 包括 不含; 免费 收费; 必须 自愿; 最高 最低
接受 拒绝; 成功 失败; 合法 非法
"""
_WIDE_PAIRS = frozenset(
    frozenset(pair.split()) for pair in re.split(r"[;\n]", _WIDE_OPPOSITES) if pair.strip()
)
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis")


def count_negations(text: str) -> int:
    """How often a text negates."""
    return len(find_negations(text))


def find_negations(text: str) -> list[tuple[int, int]]:
    """Where a text negates: offsets in characters, the end excluded."""
    spared = [match.span() for match in _NO_NEGATION.finditer(text)]
    return [
        match.span()
        for match in _NEGATION.finditer(text)
        if not any(start <= match.start() < end for start, end in spared)
    ]


def are_opposite(first: str, second: str) -> bool:
    """Whether two stems say the opposite of each other."""
    if frozenset((first, second)) in _PAIRS:
        return True
    short, long = sorted((first, second), key=len)
    return len(short) > 4 and any(long == prefix + short for prefix in _PREFIXES)


def find_opposite(first: Collection[str], second: Collection[str]) -> tuple[str, str] | None:
    """A word of one and its opposite in the other; None if there is none."""
    for one in sorted(first):
        for other in sorted(second):
            if one != other and (are_opposite(one, other) or _are_wide_opposites(one, other)):
                return one, other
    return None


def _are_wide_opposites(first: str, second: str) -> bool:
    return frozenset((first, second)) in _WIDE_PAIRS

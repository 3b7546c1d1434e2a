"""In what words a text gives orders to a model: the rules of `findings.py`.

They are expressions of RE2. An empty line parts alternatives; the ends of other lines do not count.
A `~` is anything that may stand between two words, also the end of a line that is quoted or a
comment; a name such as `@MODEL` stands for the words of that name.
"""

import re

_GAP = r"[\s>*_#\"'`,:;.-]{1,8}"
_WORDS = {
    "FORGET": r"""
        (?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|neglect
        |discard|do(?:es)?~not~follow|don['\x{2019}]?t~follow|stop~following|pay~no~attention~to)
    """,
    "ALL": r"""
        (?:(?:any|all|every|each|the|these|those|of|your|my|our|its|other|and|everything|anything
        |what(?:ever)?|you)~){0,5}
    """,
    "EARLIER": r"""
        (?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|original|initial|existing|current
        |system|developer|hidden|safety)
    """,
    "ORDERS": r"""
        (?:instructions?|prompts?|directives?|commands?|guidelines?|programming|guardrails?
        |system~(?:messages?|rules?))
    """,
    "MODEL": r"""
        (?:a\.?i\.?|l\.?l\.?m\.?s?|gpt(?:-?\d\w*)?|chatgpt|claude|gemini|copilot
        |(?:large~)?language~models?|chat~?bots?)
    """,
    "ROLE": r"(?:assistants?|models?|agents?|systems?|reviewers?|bots?|tools?)",
    "READING": r"(?:reading|processing|summari[sz]ing|parsing|reviewing|indexing)",
    "PRIVATE": r"""
        (?:conversation|chat~(?:history|log)|api~?keys?|credentials?|passwords?|secrets?|inbox|memory
        |(?:user|personal|private|customer)~(?:data|information)|access~?tokens?|system~prompt)
    """,
}

_LEAVE = r"""
    \b@FORGET~@ALL@EARLIER~(?:\w+~){0,2}@ORDERS\b

    \b@FORGET~@ALL@ORDERS~(?:that~|which~)?
    (?:(?:you~)?(?:were|have~been|are|was)~(?:previously~)?(?:given|told|provided)
    |above|before|so~far|from~(?:the~)?(?:system|developer|user))\b

    \b@FORGET~(?:everything|anything|all|what)~(?:that~)?
    (?:you~)?(?:were|have~been|was|['\x{2019}]ve~been)~(?:previously~)?
    (?:told|instructed|taught|given)\b

    \b@FORGET~(?:all|everything)~(?:of~)?(?:the~)?(?:previous|prior|above|before)[\s.!]

    ignorier(?:e|en|t)~(?:sie~)?(?:alle~)?(?:die~)?(?:vorherigen|vorigen|bisherigen|obigen|früheren)~
    (?:anweisungen|instruktionen|befehle|vorgaben)

    (?:ignore[zr]?|oublie[zr]?)~(?:toutes?~)?(?:les|tes|vos)~(?:instructions|consignes|directives)~
    (?:précédentes|antérieures|ci-dessus)

    (?:ignor[ae]|olvid[ae])~(?:todas~)?(?:las|tus|sus|as|suas)~
    (?:instrucciones|órdenes|instruções)~(?:anteriores|previas|prévias)

    (?:忽略|无视|無視|忽视|忽視)掉?(?:之前|以上|上面|前面|先前|所有|一切|的|你){1,6}
    (?:指令|指示|提示|说明|命令)

    (?:以前|これまで|上記|前|すべて)の(?:すべての|全ての)?(?:指示|命令|プロンプト)を(?:無視|忘れ)

    (?:игнорируй(?:те)?|забудь(?:те)?)~(?:все~)?(?:предыдущие|прежние)~(?:инструкции|указания)
"""
_BECOME = r"""
    \b(?:you~are|act~as|become|enter|switch~to|enable)~(?:now~)?(?:an?~|in~|the~)?
    (?:unrestricted|jailbroken|unfiltered|uncensored|dan\b|developer~mode|god~mode
    |do~anything~now)

    \b(?:your|the)~(?:new|real|true|updated)~(?:system~)?
    (?:instructions?|prompt|directives?|persona)(?:~(?:is|are)\b|\s{0,3}:)

    \byou~(?:are|have~been)~(?:now~)?(?:free|freed|released|liberated)~(?:from|of)~(?:all|any|your)\b

    \b(?:new|updated|important|urgent|critical|secret|hidden|special)~(?:system~)?
    (?:instructions?|prompts?|directives?|orders?|messages?|notes?)~(?:for|to)~
    (?:the~|any~|all~|every~)?(?:@MODEL|(?:@MODEL~)?@ROLE~(?:@READING|that~reads?))\b

    (?:^|[\n\r(\[{<>*#\"'-])[ \t]{0,4}(?:system|admin(?:istrator)?|developer|security)[ \t]{0,2}
    (?:override|overwrite)\b

    \[/?(?:system|admin|developer)[ _-](?:override|instructions?|prompt|message|note)[^\]\n]{0,40}\]
"""
_ADDRESS = r"""
    \bif~you~(?:are|['\x{2019}]re)~(?:an?~)?
    (?:@MODEL|(?:artificial|automated|virtual)~(?:intelligence|assistant|agent|system))\b
    [^.\n]{0,120}\b
    (?:must|should|please|do|always|never|say|add|include|output|print|reply|respond|answer|ignore
    |write|recommend|give|stop|send|rate)\b

    \b(?:attention|note|notice|message|memo|dear|hello|hey|hi|instructions?)~(?:to~|for~)?
    (?:the~|any~|all~|every~|our~)?@MODEL(?:~@ROLE)?~
    (?:@READING|that~(?:reads?|process(?:es)?)|please|you~(?:must|should|are))\b

    \b(?:any|all|every|the)~@MODEL(?:~@ROLE)?~@READING~this~(?:\w+~){0,2}
    (?:must|should|shall|will|has~to|is~(?:to|required))\b

    \b(?:as~an?|you~are~an?)~@MODEL~(?:@ROLE~)?@READING~this~
    (?:document|page|text|file|paper|article|resume|email)\b
"""
_GIVE_AWAY = r"""
    \b(?:reveal|print|output|repeat|leak|disclose|display|show|recite|send|give)~
    (?:me~|us~|back~|out~)?(?:all~|verbatim~)?(?:of~)?(?:your|the)~
    (?:entire~|full~|complete~|whole~)?(?:system|hidden|initial|secret|original|internal)~
    (?:system~)?(?:prompts?|instructions?|directives?)\b

    \b(?:send|forward|post|upload|e-?mail|exfiltrate|transmit|submit|leak|append|copy)~
    (?:\w+~){0,6}@PRIVATE~(?:\w+~){0,6}(?:to|at|into)~(?:\w+~){0,5}
    (?:https?://|[\w.+-]+@[\w-]+\.\w)

    \b(?:do~not|don['\x{2019}]?t|never)~(?:tell|inform|notify|alert|mention|reveal|disclose)
    (?:~(?:this|it|that|anything|any~of~this|these~(?:instructions?|steps?)))?
    (?:~to)?~(?:the~)?(?:user|human|operator)~
    (?:about~(?:this|these|it|that|the~(?:instruction|order|step|note|message))|of~this|that~you
    |anything)\b

    \bwithout~(?:telling|informing|notifying|alerting)~(?:the~)?(?:user|human|operator)s?\b
"""
_MARKS = r"""
    <\|(?:im_start|im_end|system|assistant|user|start_header_id|end_header_id|begin_of_text|eot_id)\|>

    <</?SYS>>

    \[/?INST\]

    <(?:start|end)_of_turn>

    (?:^|\n)\s{0,3}(?:Human|H):[^\n]{1,300}\n{1,3}\s{0,3}(?:Assistant|A):\s{1,3}
    (?:Sure|Certainly|Of~course|OK|Okay)\b
"""


def _compile(phrases: str) -> str:
    """One expression of RE2 for phrases."""
    alternatives = [
        "".join(line.strip() for line in phrase.splitlines())
        for phrase in re.split(r"\n[ \t]*\n", phrases)
    ]
    joined = "|".join(f"(?:{alternative})" for alternative in alternatives)
    return re.sub(r"@([A-Z]+)", _spell, joined).replace("~", _GAP)


def _spell(name: re.Match[str]) -> str:
    return "".join(line.strip() for line in _WORDS[name.group(1)].splitlines())


ORDER_RULES: tuple[tuple[str, str], ...] = (
    (_compile(_LEAVE), "It tells a model to leave its instructions."),
    (_compile(_BECOME), "It gives a model a new role or new instructions."),
    (_compile(_ADDRESS), "It speaks to a model that reads it."),
    (
        _compile(_GIVE_AWAY),
        "It asks a model to give something away, or to keep something from its user.",
    ),
    (_compile(_MARKS), "It has the marks of a model's prompt."),
)
"""Expressions of RE2, and what a text that matches one of them does."""

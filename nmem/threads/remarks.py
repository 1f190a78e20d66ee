"""Patterns of early remarks on whether a thread continues earlier work: patterns only, no logic.

"That's not what I meant" and "this is unrelated" say that a link was wrong; "didn't we talk about this?" says that
there should be one. In the languages that nmem's other cues know.
"""

from __future__ import annotations

from nmem.conversation.cues import Cue

LONGEST = 300
"""Characters at the beginning of a prompt in which a remark is looked for: further on a text quotes or reports."""


_MISUNDERSTOOD = Cue(
    r"\bnot what i (?:meant|asked|was asking|want(?:ed)?|said)\b|\byou (?:misunderst\w+|got (?:me|that|it) wrong)",
    r"\b(?:das|so) (?:meinte|meine|wollte) ich (?:doch |aber )?nicht\b|\bdas habe? ich nicht gemeint\b",
    r"\bno (?:es|era) (?:eso )?lo que (?:quería|quise|pedí|decía)\b|\bme refería a otra\b",
    r"\bce n'?(?:est|était) pas ce que je (?:voulais|demandais|disais)\b|\bnão (?:é|foi|era) (?:isso|o) que (?:eu )?"
    r"(?:quis|queria|pedi|disse)\b|\bnon (?:è|era) quello che (?:volevo|intendevo)\b|\bdat bedoel(?:de)? ik niet\b",
    r"그런 뜻이 아니|그게 아니라|そういう意味ではな|そうじゃなく|我不是这个意思|不是我(?:想|要)(?:说|的)",
)
"""An answer to what the agent did: said in a first prompt, it is about something else."""

_ANOTHER = Cue(
    r"\b(?:this|that|it) (?:is|was|has)(?:n'?t| not)? ?(?:un|not )related\b|\bunrelated to (?:that|the (?:last|"
    r"previous))",
    r"\b(?:this|that|it)(?:'s| is) (?:a |an )?(?:completely |totally )?(?:different|separate|another|"
    r"new) (?:task|topic|"
    r"thing|issue|subject|matter|story)\b|\bnothing to do with (?:that|the (?:last|previous|other|earlier))\b",
    r"\bforget (?:about )?(?:that|the (?:last|previous|earlier|other))\b|\bwrong (?:thread|task|topic)\b",
    r"\b(?:hat|das hat) (?:damit )?nichts (?:damit )?zu tun\b|\b(?:ganz )?(?:anderes|neues) thema\b|\bvergiss das\b",
    r"\b(?:es|esto es) (?:otro|un nuevo) (?:tema|asunto)\b|\bno tiene (?:nada )?que ver\b|\bolvida eso\b",
    r"\b(?:un|c'est un) autre sujet\b|\brien à voir\b|\boutro assunto\b|\bnada a ver\b|\baltro argomento\b|"
    r"\bniets mee te maken\b|\bander onderwerp\b",
    r"다른 (?:주제|작업|얘기|이야기)|상관없는|別の(?:話|件|タスク)|関係(?:ない|ありません)|(?:另一个|"
    r"别的)(?:任务|话题|问题)|没有关系|无关",
)

_SAME = Cue(
    r"\b(?:didn'?t|did|haven'?t|have|hadn'?t) we (?:not |already )*(?:talk\w*|discuss\w*|spoken|decid\w*|"
    r"agree\w*|cover\w*|"
    r"been over|fix\w*|solv\w*)\b|\bwe(?:'ve| have)? already (?:talked|discussed|decided|agreed|covered|fixed|"
    r"solved)\b",
    r"\bas (?:we|i) (?:discussed|said|agreed|decided|told you)\b|\blike (?:we did )?(?:last time|before|yesterday)\b|"
    r"\b(?:where|what) we (?:discussed|agreed|talked about) (?:last|yesterday|earlier|before)\b|"
    r"\bi already told you\b",
    r"\b(?:haben|hatten) wir (?:das |darüber |davon )?(?:nicht |doch )?(?:schon|bereits)\b|"
    r"\bwie (?:schon )?(?:besprochen|"
    r"gesagt|beim letzten mal)\b|\bdas hatten wir (?:doch |schon )+",
    r"\b(?:no )?(?:habíamos|hemos|lo) (?:ya )?(?:hablado|hablamos|discutido|acordado)\b|"
    r"\bcomo (?:ya )?(?:dijimos|hablamos|"
    r"la última vez)\b",
    r"\bon (?:en )?(?:a|avait) (?:pas )?déjà (?:parlé|discuté|décidé|vu)\b|\bcomme (?:convenu|la dernière fois)\b",
    r"\b(?:já|não) (?:tínhamos )?(?:falamos|falado|discutimos|conversamos|decidimos)\b|\bcomo (?:combinamos|"
    r"da última vez)\b",
    r"\bne abbiamo già parlato\b|\bcome l'ultima volta\b|\bhadden we (?:dit|het) (?:niet )?al\b|"
    r"\bzoals (?:besproken|afgesproken)\b",
    r"(?:이미|전에|지난번에|저번에) ?(?:얘기|이야기|말|논의|결정)|지난번처럼|(?:前に|すでに|もう)(?:話し|議論|"
    r"決め)|前回(?:の|と|話)|"
    r"(?:之前|上次|已经)(?:说过|讨论过|谈过|聊过|决定)|(?:像|跟)上次一样",
)


def same_work(prompt: str, *, first: bool) -> bool | None:
    """Whether a person says that a thread goes on with earlier work; None where the prompt says nothing of that.

    `first`: nothing was answered before the prompt.
    """
    text = prompt[:LONGEST]
    if _ANOTHER.search(text) or (not first and _MISUNDERSTOOD.search(text)):
        return False
    return True if _SAME.search(text) else None

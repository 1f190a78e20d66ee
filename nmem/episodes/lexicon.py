"""Data: small closed word lists for the boundary features. Several languages; nothing in them is learned."""

from __future__ import annotations

STOP: frozenset[str] = frozenset(
    """a an the and or but if of to in on at by for from with without as is are was were be been being it its this that
these those there here i me my we us our you your he she they them their do does did doing done have has had having can
could should would will shall may might must not no nor so than then too very just also only into about over under up
out off again what which who whom whose when where why how all any both each few more most other some such own same s t
m re ve ll d don please let lets ok okay yes like want need make made get got use using used now
o os um uma de da dos das em na nos nas para por com que e ou se mas eu você voce isso esse essa este esta""".split()
)

# Bare replies: "ok", "go ahead", "네", "はい", "好的", "pode continuar"
ACK: frozenset[str] = frozenset(
    """ok okay yes yep yeah y no nope sure thanks thank great good perfect nice cool fine continue proceed go ahead done
lgtm right correct agreed exactly approve approved please it do that all both option
sim nao não obrigado certo beleza continua pode isso claro
네 예 응 어 그래 좋아 계속 진행 はい うん お願い 続けて 好 好的 是 是的 继续 可以 谢谢""".split()
)

# Housekeeping: the work is being put away, not changed
HOUSE: frozenset[str] = frozenset(
    """commit commits committed push pushed pr merge merged rebase squash stage unstage stash amend release tag branch
커밋 커밋해줘 푸시 コミット プッシュ 提交 推送 comitar commita commite""".split()
)

# A prompt that opens so leans on what came before
ANAPHOR: frozenset[str] = frozenset(
    """it that this these those them they he she same still instead and but so because or either why which too
isso isto esse essa ainda mas e 그 그거 그것 이거 이것 저거 그리고 それ これ この その あれ 这 那 它 还""".split()
)

# Marks of pasted output: the person ran something and reports what came, which takes time but changes no intent
OUTPUT_MARKS: tuple[str, ...] = ("❯ ", "$ ", "--- fail", "===", "traceback (", "error: ", "fatal: ",
                                 "remote: ", " % ", "\nat ", "    at ", "npm err", "panic: ")  # fmt: skip

# Steps every piece of work goes through: they continue a goal far more often than they open one
LIFECYCLE: frozenset[str] = frozenset(
    """test tests lint linter ci pr prs review reviewer feedback comment comments conflict conflicts rebase docs changelog
documentation coverage severity 테스트 리뷰 テスト レビュー 测试 评审 teste testes revisão""".split()
)

# How a prompt accepts what was done, and the words by which such a prompt then goes on to something else
PRAISE: frozenset[str] = frozenset(
    """perfect great good nice works worked working awesome excellent thanks thank fixed cool alright amazing love well done
perfeito ótimo obrigado funcionou 완벽 고마워 잘된다 完璧 ありがとう 完美 谢谢""".split()
)
ONWARD: frozenset[str] = frozenset(
    "now next lets let's then also agora depois também 이제 다음 次に 现在 接下来".split()
)

# Phrases by which people say that they turn to something else
SWITCH: tuple[str, ...] = (
    "next problem", "next issue", "next thing", "next item", "next task", "next up", "next, ", "one more",
    "another ", "other issue", "other thing", "going back", "back to", "different ", "separate", "unrelated",
    "now we need", "now i want", "now i need", "now let", "now can", "new feature", "by the way", "btw",
    "moving on", "switch to", "new task", "new issue", "agora ", "outra coisa", "outro ", "próxim", "다음", "이제",
    "다른", "次", "別の", "接下来", "另外", "另一个", "现在",
)  # fmt: skip

RETURNS: tuple[str, ...] = ("back to", "going back", "voltando a", "に戻", "回到", "돌아가")

BACK: tuple[str, ...] = (
    "back to", "going back", "return to", "revisit", "as before", "earlier", "voltando", "다시", "に戻", "回到",
)  # fmt: skip

WISH: tuple[str, ...] = (
    "i want", "i'd like", "i would like", "we need", "we should", "let's", "quero", "queria", "싶", "たい", "我想",
    "我要",
)  # fmt: skip

# How an agent's closing text asks for the next word
ASKING: tuple[str, ...] = (
    "would you like", "should i", "do you want", "want me to", "shall i", "let me know", "which option", "할까요",
    "でしょうか", "ますか", "吗？", "deseja", "quer que",
)  # fmt: skip

# Frequent character bigrams of unspaced or agglutinating scripts that carry grammar, not topic
STOP_BIGRAMS: frozenset[str] = frozenset(
    """해줘 해주 세요 하고 하는 하여 해서 에서 으로 에게 대한 대해 합니 니다 습니 있는 있을 있도 것을 것이 그리 이것 되는 되어 같아 할까 해야 야할
しま ます した して です った ので から この その する ない なら れる られ くだ ださ さい こと もの ように よう いる ある てい
一个 我们 这个 那个 可以 然后 需要 怎么 什么 一下 如果 但是 因为 所以 没有 就是 的时 时候 请你 帮我""".split()
)

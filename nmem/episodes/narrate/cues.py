"""Multilingual phrase patterns for stories: requests, corrections, causes, errors, work done, work left."""

from __future__ import annotations

import re

from nmem.conversation.cues import Cue, lazy

_ = re.IGNORECASE

REQUEST = Cue(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|\bcan't (?:you|we)\b|\bplease\b|\bi(?:'d| would)? (?:want"
    r"|need|like)\b|\blet'?s\b|\bwe (?:need|want|should)\b"
    r"|\b(?:how|what|why|where|which|is there|are there|do you|does|should)\b.*\?|\bhelp me\b"
    r"|해\s?줘|해\s?주세요|주세요|하고 싶|해봐|하자|할까|바꿔|고쳐"
    r"|만들어|추가해|확인해|을까|인가\?|인가요|나요|습니까|싶은데|까\?"
    r"|ください|して欲しい|してほしい|したい"
    r"|お願い|しよう|できますか"
    r"|\b(?:por favor|preciso|quero|gostaria|poderia|você pode|vamos|consegue|tem como)\b"
)
IMPERATIVE = lazy(
    r"(?:ok(?:ay)?,? |now |then |also |and |so |first,? |next,? |hi,? |hey,? )*"
    r"(?:add|allow|apply|analy[sz]e|build|bump|change|check|clean|commit|compare|configure|convert|create"
    r"|choose|debug|delegate|delete|deploy|describe|design|disable|do(?! not)|document|downgrade|drop"
    r"|draft|enable|explain|extend|extract|figure|find|finish|fix|generate|give|go|implement|improve"
    r"|install|integrate|investigate|keep|list|look|modify|make|merge"
    r"|migrate|move|open|optimi[sz]e|perform|plan|port|prepare|propose|publish|push|put|read|rebase"
    r"|refactor|release|remove|rename|replace|research"
    r"|review|revert|rewrite|run|search|set|show|simplify|spaw?n|split|start|stop|suggest|summari[sz]e"
    r"|support|switch|test|translate|try|turn|undo"
    r"|update|upgrade|use|validate|verify|walk|write"
    r"|documentar|implementar|adicionar|criar|corrigir|atualizar|remover|validar|verificar|testar"
    r"|configurar|adicione|ajuste|altere|analise|apague|atualize|corrija|crie|escreva|explique|faça|gere"
    r"|implemente|melhore|mova|mude|remova|rode|use|verifique|veja)\b",
    _,
)
_YES_BUT = r"(?:sure|yes|yeah|yep|ok(?:ay)?|right|fine),? but\b"
YES_BUT = lazy(rf"\W*{_YES_BUT}", _)
"""A prompt that grants something and objects."""
CORRECTION = Cue(
    r"^\W*(?:no\b(?! \d| problem| worries|,? (?:i think )?(?:that|it|this|all)(?:'s| is)? (?:fine|ok|good|right))|nope"
    r"|wrong|stop\b|wait\b"
    r"|don'?t\b|do not\b|not (?:like|what|quite)\b"
    r"|hm+\b|undo\b|revert\b|you (?:did ?n[o']t|forgot|missed|broke|removed|deleted|should(?: not|n't"
    r"| have))|why (?:did|are|do) (?:you|we)\b|that'?s (?:not|wrong)"
    r"|this is (?:not|wrong)|i (?:said|meant|told|asked)\b|it'?s not\b|actually\b|but (?:i|you|it|that"
    r"|this|the|we|why)\b|still\b"
    r"|아니(?!면|라)|그게 아니|말고|하지 ?마|왜 |틀렸|잘못|違|いや|いいえ|そうじゃ|やめ|なぜ|não\b|nao\b"
    rf"|{_YES_BUT}.{{0,90}}\b(?:not|instead|rather|should)\b"
    r"|(?:on second thought|thinking (?:again|about it)|scratch that)\b"
    r"|are you sure\b|tem certeza|sicher\?|정말|本当に"
    r"|errado|pare\b|por que você|mas \b)"
    r"|\bis (?:not (?:correct|right|true)|incorrect)\b"
    r"|\b(?:still (?:not|an? |fails?|failing|broken|the same|get|see|have|does|doesn)|(?:does ?n[o']?t"
    r"|did ?n[o']?t|is ?n[o']?t|not) (?:seem to )?work(?:ing)?|same (?:error|issue|problem)"
    r"|instead of (?:doing|that|this)|you used .{0,30}(?:wrong|instead)|not what i|if you (?:had )?used"
    r"|i don'?t (?:like|want)|(?:is|does|do|are|did) ?n[o']?t (?:really|actually|even)"
    r"|that should (?:have|be|show|say)|ainda (?:não|está)|não funcion|mesmo erro)\b"
    r"|여전히|안 ?돼|안 ?되|안되네|말고 |まだ|動かない|動きません|ではなく"
)
APPROVAL = lazy(
    r"^\W*(?:(?:ok(?:ay)?|yes|yep|yeah|great|perfect|nice|cool|awesome|thanks?|thank you|lgtm|works?"
    r"|good(?! (?:find|catch|call|point|idea|question)\b)"
    r"|it works|looks good|excellent|super"
    r"|네|응|어|좋아|좋습니다|완벽|감사|고마워|はい|いいね|ありがとう|完璧|sim|ótimo|perfeito|obrigad[oa]|boa|beleza)[\W_]*(?:\s|$))+",
    _,
)
PRAISE = Cue(
    r"\b(?:works?(?: now| great| fine| well| perfectly)?|perfect|great|awesome|lgtm|looks good|thanks?"
    r"|thank you|nice|excellent|funciona|perfeito|obrigad[oa])\b"
    r"|좋아|좋습니다|완벽|감사|고마|잘 ?된|잘 ?되|ありがとう|完璧|動きました|いいですね"
)
CAUSE = Cue(
    r"\b(?:root cause|the (?:real |actual |core |main |key |underlying )?(?:issue|problem|cause|bug"
    r"|culprit|reason) (?:is|was|were|here)|found the (?:issue|problem|bug|cause)"
    r"|turn(?:s|ed) out|caused by|because|due to|the reason|which (?:means|causes|caused|broke|made)"
    r"|that(?:'s| is) why|leads? to|led to|resulted in"
    r"|instead of|rather than|otherwise|only works?|does ?n[o']t (?:support|allow|exist|work|have)"
    r"|was ?n[o']t|never|actually|in fact|it appears|fails? (?:because|when|if)"
    r"|porque|causad[oa]|a causa|o problema (?:é|era)|na verdade|em vez de|devido)\b"
    r"|때문|원인|이유|이므로|인해|므로|대신|ため|原因|なので|から、|代わりに|理由"
)
STRONG = Cue(
    r"\b(?:root cause|turn(?:s|ed) out|caused by|the (?:real |actual |core |underlying )?(?:issue|problem"
    r"|cause|bug|culprit|reason) (?:is|was)|because|the reason|a causa|o problema (?:é|era))\b"
    r"|원인|때문|原因|理由"
)
BROKEN = Cue(
    r"\b(?:fail\w*|errors?|broken?|breaks?|bugs?|crash\w*|wrong|(?:do|does|did|is|are)(?:n't| not) work\w*"
    r"|problem|issue|hangs?|panic|falha\w*|erro|quebr\w+|não funciona)\b"
    r"|오류|에러|버그|실패|안 ?돼|안 ?되|エラー|バグ|失敗|動かない"
)
PROBLEM = Cue(
    r"\broot cause|\bthe (?:real |actual |core |main |key |underlying )?(?:issue|problem|cause|bug|culprit"
    r"|reason)\b.{0,40}\b(?:is|was|were)\b|\bcaused by\b|\bturn(?:s|ed) out\b"
    r"|\b(?:fail\w*|break\w*|broke|error\w*|crash\w*|denied|reject\w*|timed out"
    r"|conflict\w*)\b.{0,80}\b(?:because|since|due to|as)\b|\bbecause\b.{0,80}\b(?:fail\w*|break\w*|broke"
    r"|error\w*|crash\w*|missing|not)\b"
    r"|원인|때문|原因|causa|o problema (?:é|era)"
)
DECISION = Cue(
    r"\b(?:decided|chose|chosen|opted|recommend(?:ed|ation)?|prefer(?:red)?|best (?:option|approach|path"
    r"|fit)|trade-?off|we should|verdict|conclusion"
    r"|key (?:insight|finding|difference|takeaway)|safe(?:st)? to|simplest|decidi|recomendo"
    r"|melhor opção)\b|결정|권장|추천|決定|推奨|おすすめ"
)
DONE = lazy(
    r"^(?:\W|done|all|and|it|i(?:'ve| have)?|we(?:'ve| have)?|have|has|had|was|were|been|also|then|just"
    r"|successfully|the|both|everything)*\s*\b"
    r"(?:(?:add|adjust|appli|align|back|bump|chang|clarifi|clean|clear|committ|configur|consolidat|convert|spawn|increas|decreas|reduc|enabl|start"
    r"|correct|creat|delet|deploy|disabl|document|dropp|enabl"
    r"|expand|export|extend|extract|fixe?|flash|generat|group|handl|implement|improv|insert|install"
    r"|integrat|introduc|includ|limit|merg|migrat|mov|open|order|pars|pass|patch|pinn|post|publish|push"
    r"|rais"
    r"|rebas|redesign|refactor|refin|regenerat|releas|remov|renam|reorder|replac|resolv|restor|restructur"
    r"|reword|rework|sav|simplifi|stor|stripp|switch|swapp|test|translat|trimm|updat|upgrad|us|verifi|wir"
    r"|wrapp)ed"
    r"|built|kept|made|rewrote|rewritten|ran|set|split|wrote|written|now (?:uses?|using|calls?|has|have"
    r"|handles?|returns?|supports?|shows?|includes?|runs?|works?|reads?|writes?|checks?|in))\b"
    r"|추가|수정(?:했|하였|됨|완료)|변경(?:했|하였|됨|완료)|삭제(?:했|하였|됨)|생성(?:했|하였|됨)|작성(?:했|하였|됨)|완료|반영(?:했|됨)|제거(?:했|됨)"
    r"|이동(?:했|됨)|통일|적용(?:했|됨)|追加し|修正し|変更し|削除し|作成し|完了|更新し|対応し"
    r"|\b(?:adicionei|corrigi|criei|atualizei|removi|alterei|implementei|ajustei|movi|renomeei|adicionad"
    r"|corrigid|criad|atualizad|removid|alterad|implementad)\w*",
    _,
)
DRAFT = lazy(
    r"\bhere(?:'s| is| are) (?:the|an?|your|my|what)\b.{0,60}\b(?:description|draft|proposal|proposed"
    r"|template|message|suggestion|options?|plan|outline|would)\b",
    _,
)
BASE_LABEL = Cue(
    r"\b(?:done|completed|changes made|summary|recap|what (?:i|was|we|changed|i changed))\b|요약|완료|まとめ|完了"
    r"|resumo|feito"
)
ADDRESSED = Cue(r"\b(?:you(?:r|'ll|'d)?|if|should|could|would|will need|might)\b|하세요|ください")
DONE_LABEL = Cue(
    r"\b(?:done|summary|changes?|what (?:i|was|we|changed|changes)|completed|fixed|the fix|fix|implemented"
    r"|recap|result|results|updated|added|removed|created|deliverables)\b"
    r"|요약|변경|완료|수정|まとめ|変更|完了|\b(?:resumo|mudanças|alterações|feito|concluído)\b"
)
CAUSE_LABEL = Cue(
    r"\b(?:root cause|cause|why|what (?:broke|happened|went wrong|caused|i found)|problem|issue|finding"
    r"|findings|key|insight|conclusion|reason|verdict|recommend\w*|analysis|gotcha|decision|decisions"
    r"|explanation|short answer|answer|tl;?dr|bottom line|critical|bugs?|important|caveat)\b"
    r"|원인|이유|문제|결론|결정|原因|理由|問題|結論|\b(?:causa|motivo|problema|conclusão|decisão)\b"
)
LEFT_LABEL = Cue(
    r"(?:^|/ |what(?:'s| is) |\bup )next\b|\bnext (?:steps?|actions?|tasks?|up)\b"
    r"|\b(?:to-?dos?|remaining|still (?:needs?|to do|open)|what(?:'s| is| still)? (?:left"
    r"|next|needs?)|not (?:yet )?done|follow-?ups?|pending|open (?:questions?|items?)|to do|out of scope"
    r"|before (?:merging|release)"
    r"|what you (?:need|should)|your turn|próximos passos|pendente|falta)\b|다음 (?:단계|작업|할|으로)"
    r"|남은|향후|후속|次の|残り|今後|未完"
)
LEFT = Cue(
    r"\b(?:not (?:yet )?(?:been )?(?:committed|pushed|tested|verified|run|implemented|deployed|flashed"
    r"|compiled|done)|uncommitted|unstaged|unpushed|still (?:needs?|to do|have to|missing|open|fails?"
    r"|failing|requires?|outstanding)|remains? to|yet to"
    r"|(?:have|has)n'?t (?:been |yet )?(?:committed|pushed|tested|run|verified|deployed|compiled)"
    r"|next step|follow-?up|left to do|to do next|you(?:'ll| will)? (?:need|have) to|you'll want to"
    r"|needs? to (?:be |land)|when(?:ever)? you(?:'re| are) ready|before (?:committing|the next|merging"
    r"|releasing)"
    r"|should be (?:run|tested|verified|updated)|todo|blocker|blocked|waiting (?:on|for) you|falta"
    r"|ainda (?:precisa|falta)|próximo passo|pendente)\b"
    r"|남았|아직|다음 단계|해야 합니다|필요합니다|まだ|残って|次のステップ|必要があります|未対応"
)
TALK = lazy(
    r"^(?:let me|let's|i'?ll|i will|i'?m going|i am going|now,? (?:let|i)|i need to|i should|i can see"
    r"|i see|looking at|here'?s|here is|here are|good|great|perfect|sure|of course|absolutely|wait|hmm"
    r"|ok(?:ay)?\b"
    r"|the user|they|he |she |so,? (?:let|i)|first,? (?:let|i)|actually,? (?:let|i)|next,? (?:let|i)"
    r"|then,? i|but (?:let me|wait)|we need|maybe|perhaps|would you|do you|want me|shall i|should i"
    r"|you'?re (?:absolutely )?right|i apologi|sorry|my (?:mistake|bad)|thanks|makes sense|got it"
    r"|understood|i understand|great question|yes,? (?:i|let)|take a look"
    r"|i've been|the current focus|to investigate|my (?:current|next|focus)|before |once |try |feel free"
    r"|if you|vou |agora vou|deixe|먼저|이제|좋습니다|네,|まず|では|わかりました|承知)",
    _,
)
QUESTION = lazy(r"[?？]\W*$|할까요\W*$|을까요\W*$|ますか\W*$|でしょうか\W*$")
NOISE_LINE = lazy(
    r"^\s*(?:at .{1,200}\(|at [\w.$<>/]+:\d+|File \"|Traceback |\.\.\. \d+ more|\^+|~+|[•⨯✓✗×✔✖└├│┃╭╰─═"
    r"|>#$%]\s|\d{1,4}[:|]\s|\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[(?:info|warn|error|debug|image)\b"
    r"|(?:info|warn(?:ing)?|error|debug|fatal|panic)[\]:\s]*[:\]]"
    r"|[\w./\\-]+\.\w{1,5}:\d+(?::\d+)?:?|[{}\[\]();,]+$|goroutine |npm (?:err|warn)|\+\+\+|---|@@"
    r"|diff --git|--- (?:fail|pass)|=== run|(?:ok|fail)\s+[\w.-]+/[\w./-]+\s|\w+@\w+.*[$#%] |===|unknown command"
    r"|error:|\w*(?:Error|Exception): )",
    _,
)
GENERIC_ERROR = Cue(
    r"error|fail|undefined|cannot|can't|not found|no such|unexpected|missing|invalid|expected|denied"
    r"|refused|exception|panic|timed? ?out|unused|rejected|unknown|ignored|not allowed|should not|no files"
    r"|unable|killed|no module named"
)
ERROR_LINE = lazy(
    r"\b\w*(?:Error|Exception|ERROR)\]?\s*[:=]|\berror(?: TS\d+|\[E\d+\])?\]?\s*[:=]|\bfatal:|\bpanic:"
    r"|npm (?:ERR!|error)|\bFAIL(?:ED)?[:\t]|[✖⨯] \w|unknown command",
    re.MULTILINE,
)
LIMIT = lazy(
    r"^\W*(?:(?:claude )?(?:session|usage|weekly|\d-hour|rate) limit reached"
    r"|you(?:'|’)ve hit your (?:\w+ ){0,3}limit|api error|credit balance is too low|prompt is too long"
    r"|invalid api key|please run /login|(?:provider )?request timed out)",
    _,
)
BLOCKED = Cue(
    r"\b(?:blockers?|blocked|unresolved|could ?n[o']t (?:be )?|could not|unable to|cannot yet|failed to"
    r"|did not work|still (?:fails?|failing|broken)|waiting (?:on|for) you)\b"
    r"|não consegui|bloquead|할 수 없었|실패했|できませんでした"
)
COMPLAINT = Cue(
    r"\b(?:(?:is|it's|was|went|goes|keeps|still|stays?) (?:\w+ )?(?:down|dead|offline|stuck|broken|empty|blank)"
    r"|not (?:online|working|running|connect\w*|loading|responding|showing)|still (?:not|no|the same"
    r"|fails?|says|get\w*|down|broken|off\w*|dead|stuck|empty)|offline|crash(?:es|ed|ing)?"
    r"|(?:does|do|did|is|are)(?:n't| not|nt) (?:work|start|connect|load|show|respond|run)\w*"
    r"|no luck|same (?:error|thing)"
    r"|caiu|travou|ainda (?:não|esta|está)|fora do ar|continua|não (?:está|esta|funciona|abre|conecta|responde)\w*)\b"
    r"|여전히|안 ?돼|안 ?되|まだ|動かない"
)
USER_COMMIT = Cue(
    r"\bi(?:'ve| have)?(?: just| already)? (?:committed|pushed|merged|put .{0,30}\bcommit)\b"
    r"|\b(?:the|my) (?:latest|last|newest|previous)(?: \w+)? commits?\b|\bmy commits?\b"
    r"|\bi (?:reset|amended|squashed) (?:the|my) commit"
)
NOT_DONE = Cue(
    r"\b(?:blocked|could ?n[o']t|could not|unable to|failed to|did(?: not|n't) work|still (?:fails?|failing|broken))\b"
)
CHATTER = lazy(
    r"^(?:good (?:eye|point|call|catch\w*|question)|(?:the|my) (?:aim|goal|plan|idea|focus) (?:is|was|here)"
    r"|nice (?:catch|find)"
    r"|i'?(?:m|ve| am| have) (?:been|wondering|in the middle|now|currently|trying"
    r"|thinking|focus\w*|considering|pinpointed)"
    r"|i(?:'ll| will| think| need| should| want| can| could| wonder)\b"
    r"|(?:great|excellent|fair) (?:point|question|catch)"
    r"|based on (?:the|my|our) conversation|this should (?:reveal|help|show|tell)|hmm|oh[,!]|ah[,!])",
    _,
)
STATE = lazy(
    r"^(?:\S+ ){1,6}?(?:is|are|isn't|does(?:n't| not)|do(?:n't| not)|loads?|needs?|should|can|could|will|still"
    r"|está|estão|é"
    r"|são|já roda)\b",
    _,
)
DONE_ANY = Cue(
    r"추가|수정(?:했|하였|됨|완료)|변경(?:했|하였|됨|완료)|삭제(?:했|하였|됨)|생성(?:했|하였|됨)|작성(?:했|하였|됨)|완료|반영(?:했|됨)|제거(?:했|됨)"
    r"|이동(?:했|됨)|적용(?:했|됨)|追加し|修正し|変更し|削除し|作成し|完了|更新し|対応し"
    r"|\b(?:adicionei|corrigi|criei|atualizei|removi|alterei|implementei|ajustei|movi|renomeei|adicionad[oa]s?|corrigid[oa]s?"
    r"|criad[oa]s?|atualizad[oa]s?|removid[oa]s?|alterad[oa]s?|implementad[oa]s?|integrad[oa]s?|conclu[ií]d[oa]s?|com+itad[oa]s?|iniciad[oa]s?|encerrad[oa]s?)\b"
)
PASSES = Cue(
    r"\b(?:tests?|lint(?:er|ing)?|build|checks?|suite|hooks?)\b.{0,60}\b(?:pass(?:es|ed|ing)?|green|clean|succe\w+)\b"
    r"|\ball (?:\d+ )?(?:tests? )?pass|\btestes?\b.{0,30}\bpass(?:aram|ando|am)\b"
    r"|^(?:all )?clean(?=[.!])"
    r"|\btests?\b.{0,30}\b(?:grün|bestanden)\b"
    r"|테스트.{0,20}(?:통과|성공)|テスト.{0,20}(?:通り|通過|パス|成功)"
)
"""Says that checks pass."""
TESTS_PASS = Cue(
    r"\b(?:tests?|checks?|suite|specs?)\b.{0,60}\b(?:pass(?:es|ed|ing)?|green|clean|succe\w+)\b"
    r"|\ball (?:\d+ )?(?:tests? |checks? )?(?:now )?pass|\bpass(?:es|ed)? \((?:all )?(?:\d[\d.,]* )?tests\b"
    r"|\btestes?\b.{0,30}\bpass(?:aram|ando|am)\b"
    r"|\btests?\b.{0,30}\b(?:grün|bestanden)\b"
    r"|테스트.{0,20}(?:통과|성공)|テスト.{0,20}(?:通り|通過|パス|成功)"
)
"""Says that tests pass; a lint or a build is none."""
CI_PASSES = Cue(
    r"\b(?:ci|checks?|pipeline|workflow|jobs?)\b(?!.{0,40}\blocal).{0,40}\b(?:pass(?:es|ed|ing)?|green|succe\w+)\b"
)
"""Says that the checks on the forge pass."""
PASSES_NOT = Cue(r"\b(?:not|n't|never|should|will|would|if|once|until|except|fail\w*|before|unless)\b|않|未|ない")
CONCEDES = lazy(
    r"^\W*(?:(?:ah|oh|yes|hm+|ok(?:ay)?)\W+)*(?:you(?:'re|’re| are) (?:absolutely |totally |completely )?right(?! to )"
    r"|good (?:catch|point)|(?:você )?tem razão|du hast recht|sie haben recht|맞습니다|말씀하신|おっしゃる通り|ご指摘)",
    _,
)
"""Grants that what the person said is so."""
ADMITS = lazy(
    r"^\W*(?:(?:found (?:it|the bug)|ah|oh|yes|indeed|good (?:question|find))\W+)*"
    r"(?:that(?:'s|’s| is)|this is|it(?:'s|’s| is)|there(?:'s|’s| is)|the) (?:a |an |the |indeed |really |actually )*"
    r"(?:real |design |subtle )?bug\b",
    _,
)
"""Grants that there is a fault in what was made."""
OWNS = Cue(
    r"\b(?:my (?:mistake|bad|error|apologies)|i (?:was|am) wrong|i apologi[sz]e|sorry (?:about|for|i)"
    r"|that(?:'s| is|’s| was) (?:a|my) (?:mistake|error)|i (?:misread|misunderstood|misinterpreted|overlooked)"
    r"|let me correct|desculp|mein fehler|entschuldigung)|죄송|(?:제|저의) 실수|실수했|申し訳|失礼しました"
)
"""Owns a mistake."""
HOLLOW = lazy(
    r"^(?:(?:i|we|ve|have|has|been|is|are|was|were|now|the|this|that|all|both|every|everything|each|of|in|on|with|for"
    r"|and|no|any|done|great|excellent|perfect|successful(?:ly)?|correct(?:ly)?|properly|fully|also|still|already|here|s|your|our|my|it|to|a|an"
    r"|changes?|edits?|fix(?:es|ed)?|bugs?|issues?|problems?|tests?|checks?|lint(?:er|ing)?|build|typecheck|type|suite"
    r"|hooks?|pass(?:es|ed|ing)?|clean|green|complete[d]?|finished|implemented|implementation|verified|ready|work(?:s|ing)?"
    r"|updated?|files?|code|tasks?|todos?|unit|integration|ci|e2e|plan|steps?|commits?|committed|pushed|created|made"
    r"|resolved|solution|patch|generated|saved|errors?|warnings?|failures?|zero|\d+|feedback|addressed|critical|blocking|end|place"
    r"|summary|what|did"
    r"|완료|모두|변경|수정|성공적으로|되었습니다|했습니다|すべて|完了|変更|しました|tudo|pronto|feito|todos?|os|as|testes|passaram|concluíd[oa]s?)"
    r"(?:\W+|$))+$",
    _,
)
"""Says that something is done, or that checks pass, and not what."""
CANCELLED = lazy(
    r"Sibling tool call errored|Cancelled: parallel tool call|Cancelled by user|File has not been read yet"
    r"|File has been modified since read|exceeds maximum allowed|^String to replace not found in file",
    _,
)
FLEETING = Cue(
    r"\b(?:this|the|your|my|that|current|other) (?:feature )?(?:branch|worktree|checkout) "
    r"(?:is|was|has|had|removes|adds|contains|differs|lacks|also|does|doesn't|still)\b"
    r"|\b(?:behind|ahead of|diverged from|up[- ]to[- ]date with) [`'\"]?(?:main|master|origin|upstream|develop)\b"
    r"|^(?:i|we)(?:'m| am| are)? (?:won'?t|will not|can'?t|cannot|do not|don'?t|did not|didn'?t|not going|refuse)\b"
    r"|^(?:i|we) (?:would|wouldn'?t|could|couldn'?t|left|leave|kept|skipped|stopped|paused)\b"
)
"""What held for a branch at that moment, or what the agent would not do: said in a chat, and no knowledge later."""

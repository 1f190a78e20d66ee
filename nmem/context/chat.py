"""Word lists of small talk: greetings, assent and the like, which say nothing on a prompt's subject.

On the hook's path. As `nmem.episodes.text.tokens` gives them, which leaves out articles, pronouns and their like; what
may be somebody's subject (a letter, a recipe, French) is not here: of such words the project itself must have spoken.
"""

from __future__ import annotations

CHAT: frozenset[str] = frozenset(
    """able absolutely ack actually afternoon agre agree ah ahead alone already alright although alway amaz another
answer anybody anyone anyth anyway appreciate around ask asked asking assist away awesome back bad basically
begin beginn begun believe bem best better bit bitte boa bom bonjour bring buddy bueno bye came carry
certainly cheer child ciao come coming continu continua continuar continue continuer cool correct course danke
day dear definitely describe dia different early else even ever everyone everyth everywhere exactly excellent
explain far feel fine finish first folk forget forward friend gave give giving glad go goe going gone good
goodbye gracia grazie great greeting guess guten guy ha haha hallo happen happy hear heard hello help hey hi
hm hmm hola hold hope hour howdy however idea inde instead interest keep kid kind kindly knew know last late
later leave lgtm life little live lol long look lot love lovely man many mate maybe mean meant merci mind
minute moment month morgen morn much name need never next nice night nobody nope noth obrigada obrigado often
oh oi ola once otherwise people perfect perhap person pls possible prego pretty previou probably proce proceed
put question quite rather ready really recommend remember repeat retry sad said salut saw say saying second
see seeing seen seguir several short sigue simply somebody someone someth somewhere soon sorry sort speak
start still stop stuff suggest sup sure take taking talk tell thank thing think though thought thx time today
together told tomorrow tonight took tried try trying tudo twice understand wait want watch way week weekend
weiter weitermachen welcome well went wish woman wonder wonderful worse worst wow yeah year yep yesterday yet
yo yup""".split()  # noqa: SIM905 - read as a list
)

"""Word lists of questions and headings, by their role there."""

from __future__ import annotations

STOP = frozenset(
    """
a an and are as at be been but by can could did do does for from had has have how i if in into is it its just me my no
not of off on onto or our out over should so some than that the their them then there these they this those to too up
us use using vs was we were what when where which while who why will with without would you your
""".split()
)
"""Words that say nothing of what is asked; a query made of nothing else is taken as it is."""
IMPERATIVE = frozenset(
    """
add allow apply ask avoid build bump call catch check choose clean commit configure convert copy create debug define
delete deploy detect document encode ensure evaluate export extract filter find fix format generate group handle
import improve indent install integrate keep lint load log make manage map measure merge migrate mock move name order
organize output parse place plan prefer prepare prevent print promote publish read recover reduce refactor release
remove rename replace report resolve restore review rewrite run save scan select separate serialize set share sort
split start stop store structure sync test trace track transform update upgrade use validate verify wrap write
""".split()
)
"""Verbs that a heading of a procedure begins with."""

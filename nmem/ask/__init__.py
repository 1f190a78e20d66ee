"""Answers a question from the records: quotes with what superseded them, or that nothing is recorded about it.

`question` finds a question's informative words, `rows` reads what was said on its subject, `answer` chooses the quotes
and decides whether they answer it, `model` has a language model put it in a sentence or two, each resting on a quote.
"""

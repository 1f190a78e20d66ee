"""Labels of stored tool calls (phase, scope, locus, novelty, friction): corrections, backfill, explanations.

names.py        what `label_model` says: which model, and which dimensions a person decided
store.py        a session's calls in order; labels written, and what episodes keep of them; their models (SQL)
corrections.py  a person's words, and taking them back (SQL)
backfill.py     history labelled by the model in force; workers.py does it in processes of its own
read.py         one call with its words and why; what a person has said (SQL)
cards.py        what is known of each classifier
"""

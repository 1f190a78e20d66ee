"""Optional language models: asked within bounds, with answers checked against the facts, or not used at all.

    config.py    what a person set             discover.py  servers found on loopback
    backend.py   the one interface
    endpoint.py  an OpenAI-compatible server   ladder.py, wire.py      its dialect, its exchange
    command.py   the person's own client       recipes.py, process.py  its words, its run
    outgoing.py  redacted, fenced, its language ask.py       cap, call, one repair
    shape.py     types and lengths             facts.py, claims.py   what may be kept
    grounding.py, assertions.py  each sentence against the rows that it names
    session_prompt.py  linking_prompt.py   what is asked
    connect.py    the desk of this person and this database   book.py  the ledger, the only SQL here
    segmenter.py  assessor.py   the model as judge, in the words of the detector and of the linker

What `ask` and the prompts' readers return is all that may be stored.
"""

"""One box over everything that is stored: what is typed, where it is looked for, what is shown first.

`schema` what settling keeps for it, and `refresh` how; `query` what was typed; `vocabulary` which stored words that
may mean; `fts` bounded walks over the text indexes; `gather` which walks; `rank` what is best; `search` the entry.
"""

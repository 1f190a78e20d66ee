"""Search over everything stored: parsing the query, gathering rows, ranking.

`schema` what settling keeps for it, and `refresh` how; `query` what was typed; `vocabulary` which stored words that
may mean; `fts` bounded walks over the text indexes; `gather` which walks; `rank` what is best; `search` the entry.
"""

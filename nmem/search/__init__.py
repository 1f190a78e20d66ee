"""Search over everything stored: parsing the query, gathering rows, ranking.

`index_store` what settling keeps for it, and `refresh` when; `query` what was typed; `meaning` which stored words that
may mean; `store` what is asked of rows; `fts` bounded walks; `gather` which; `rank` what is best; `search` the entry.
"""

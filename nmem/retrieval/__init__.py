"""The retrieval engine of search, context, linking and agent tools: finds episodes on the same subject.

`documents` turns an episode's records into weighted words, `index` keeps the postings up to date in the background,
`engine` ranks a project's episodes for a query; `store` has the queries. `words`, `terms`, `store` and `engine` are on
the hook's path.
"""

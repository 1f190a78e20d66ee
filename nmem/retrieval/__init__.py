"""One retrieval engine for search, context, linking and the agent's tools: which episodes speak of the same.

`documents` turns an episode's records into weighted words, `index` keeps the postings up to date in the background,
`engine` ranks a project's episodes for a query. `words`, `engine` and `schema` are on the hook's path.
"""

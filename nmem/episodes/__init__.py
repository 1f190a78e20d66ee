"""Episodes (work units): where a person's intent changes, what was done in between, and how it ended."""

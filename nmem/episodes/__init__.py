"""Episodes (work units): where a person's intent changes, the work in between, and its outcome."""

"""A project's own instructions (CLAUDE.md, AGENTS.md, clients' memories): what is stale, repeated, dear."""

"""Shared storage: the schema and registry of tables, corrections, projects, traces of deleted calls, git."""

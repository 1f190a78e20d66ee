"""Transfers memories between databases: exports as lines of JSON or a file of tables, and merges them."""

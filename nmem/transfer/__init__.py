"""Memories that go from one database into another: exported as lines of JSON or as a file of tables, and merged."""

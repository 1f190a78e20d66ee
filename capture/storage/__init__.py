"""The database: its tables, the write path, and the spool for when it cannot be written."""

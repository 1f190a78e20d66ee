"""The database: its tables, the write path, and the spool for times when it cannot be written."""

"""Backups: a consistent copy of a database that others go on writing to, kept, encrypted, checked, and put back."""

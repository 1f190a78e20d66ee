"""Backups: consistent copies of a live database; encrypted, verified, listed and restored."""

"""Imports past sessions from the clients' own folders, in batches."""

"""The store: the registry of all tables."""

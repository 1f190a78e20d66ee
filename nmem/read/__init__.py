"""Queries of the screens and reading commands: SQL in, frozen dataclasses out."""

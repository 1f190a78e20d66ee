"""Retention: deletes old records by type and lifetime, with exemptions, and maintains the database file."""

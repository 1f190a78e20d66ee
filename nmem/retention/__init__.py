"""Retention: lifetimes by type, exemptions, sweeps, and maintenance of the file."""

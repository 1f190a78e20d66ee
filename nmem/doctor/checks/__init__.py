"""The checks of `nmem doctor`: functions that return findings, which are data."""

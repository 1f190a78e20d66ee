"""The doctor: checks an installation, tests its hooks with synthetic events, and repairs faults."""

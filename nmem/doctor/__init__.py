"""The doctor of an installation: checks, registrations and fixes, each in a module of its own."""

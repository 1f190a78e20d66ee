"""The demo: an invented session, played through the real pipeline into a temporary database."""

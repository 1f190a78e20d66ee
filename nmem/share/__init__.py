"""Hands work on: takes an episode or a session, gives files for a person to read or a brief for another client."""

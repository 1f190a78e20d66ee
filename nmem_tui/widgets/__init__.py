"""Widgets of which the screens are made."""

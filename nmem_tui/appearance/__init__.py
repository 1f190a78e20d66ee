"""Appearance: themes, style sheets, symbols."""

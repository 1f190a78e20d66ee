"""What the screens and the reading commands show: SQL in, frozen dataclasses out."""

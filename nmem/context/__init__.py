"""Context: selects a few items of the past for the next session, each with a reason and an id."""

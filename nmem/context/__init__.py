"""What the next session is told: the present selects a few things of the past, each with a reason and an id."""

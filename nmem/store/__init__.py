"""What holds for every table: the registry."""

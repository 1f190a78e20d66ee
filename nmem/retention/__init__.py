"""What is forgotten, when, and what must not be: lifetimes by type, sweeps, and the upkeep of the file."""

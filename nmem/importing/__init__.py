"""Past sessions, found in the clients' own folders and read in stretches."""

"""A recorded session of our own making, played through the real pipeline into a temporary database."""

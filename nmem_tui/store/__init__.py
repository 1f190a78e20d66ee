"""The cockpit's access to the database and to files: reads, writes, and notices of changes."""

"""Between the cockpit and the database and files: reads, writes, and the notice of what changed."""

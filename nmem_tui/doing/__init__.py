"""What a person does from the cockpit: corrections, tasks, long work."""

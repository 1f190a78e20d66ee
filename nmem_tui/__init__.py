"""Shows and steers: the cockpit that runs beside a coding session."""

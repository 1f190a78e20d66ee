"""Operations a person starts in the cockpit: changes, tasks, long jobs."""

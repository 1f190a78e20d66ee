"""The cockpit that runs beside a coding session: shows what is recorded, and changes it."""

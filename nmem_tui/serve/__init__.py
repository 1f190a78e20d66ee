"""The same cockpit in a browser: a page on 127.0.0.1, and one process of nmem behind each tab that shows it."""

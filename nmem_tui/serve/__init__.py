"""The cockpit in a browser: a page on 127.0.0.1, with one nmem process per open tab."""

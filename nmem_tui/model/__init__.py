"""The contents of the screens as text and tones; knows nothing of the terminal library."""

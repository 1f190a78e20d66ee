"""What the screens show, as text and tones; knows nothing of the terminal library."""

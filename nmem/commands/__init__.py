"""The commands of `nmem`, one module each, imported only when called."""

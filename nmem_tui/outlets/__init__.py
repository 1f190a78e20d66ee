"""What goes out of the cockpit: to the clipboard, an editor, files."""

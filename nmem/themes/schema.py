"""The table of themes: the theme of each episode. All of it can be rebuilt from the retrieval index."""

from __future__ import annotations

THEMES = """
CREATE TABLE unit_themes (
  unit_id INTEGER PRIMARY KEY REFERENCES work_units(id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
  theme INTEGER NOT NULL,                    -- kept while most of its episodes stay together; 0: in none
  label TEXT NOT NULL                        -- two to four words, the same for all episodes of a theme
);
CREATE INDEX unit_themes_by_theme ON unit_themes(theme, unit_id);
CREATE INDEX unit_themes_by_project ON unit_themes(project_id, theme);
"""

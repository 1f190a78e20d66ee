"""How the cockpit looks: themes, a person's colours, style sheets."""

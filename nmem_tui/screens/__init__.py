"""One module per screen: its reads, its layout, its keys."""

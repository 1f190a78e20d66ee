"""Training: fits models on labelled data; each script writes a small readable file into its package."""

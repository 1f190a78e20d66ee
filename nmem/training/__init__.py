"""Fits what is learned from labelled data; each script writes a small readable file into the package that uses it."""

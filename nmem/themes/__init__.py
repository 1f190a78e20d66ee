"""Themes: episodes of a project on one subject, across sessions and threads; computed in the background.

group   latent topics of the index, clustered; labels            (scikit-learn, where it can be imported)
keep    makes a project's themes anew once enough was told, numbers as stable as can be
read    what the command line and the cockpit show
"""

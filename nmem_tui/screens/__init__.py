"""One module a screen: what it asks for, how its parts are arranged, what its keys do."""

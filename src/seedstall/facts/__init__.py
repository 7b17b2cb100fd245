"""How each fact is had: providers, functions of a source (and of other facts), one subject a module."""

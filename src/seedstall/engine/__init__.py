"""Cases, the running of rules over them, and the verdict concluded from what they say."""

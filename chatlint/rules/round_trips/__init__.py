"""CT7xx: what does not come back from message to text to message, and whose fault that is."""

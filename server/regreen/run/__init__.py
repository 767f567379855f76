"""One run, from target to outcome: puts the parts together and speaks the run protocol."""

"""The tools a model may ask for, and what each does."""

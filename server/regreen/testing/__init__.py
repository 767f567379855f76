"""Finding a test, running it sealed, reading its evidence, judging a change."""

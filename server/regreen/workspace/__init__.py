"""The files inside one folder: confinement, lossless text, edits, trial copies, journal."""

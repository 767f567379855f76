"""The seal around every run of the person's code: no network, no home, no secrets, limits, killed whole."""

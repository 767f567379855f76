"""The warm test runner of the repair search; it runs in the person's interpreter (3.8+, stdlib and pytest)."""

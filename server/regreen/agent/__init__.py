"""The loop: observe, think, act, repeat. Knows no LSP, no HTTP and no process."""

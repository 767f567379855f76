"""The models: Ollama, OpenAI-compatible servers, the built-in repair search, and replay of a trace."""

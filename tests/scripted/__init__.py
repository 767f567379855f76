"""A scripted model behind a real HTTP server, on the wires of Ollama and of OpenAI.

It plays one policy (see `policies.POLICIES`): a good model, a weak one, one that writes its calls in an odd
way, or a server that misbehaves. From `tests/`: `python -m scripted --policy twopart --port 0`.
"""

from scripted.answers import Answer, Call, Fault, Seen
from scripted.policies import POLICIES
from scripted.server import ScriptedServer

__all__ = ["POLICIES", "Answer", "Call", "Fault", "ScriptedServer", "Seen"]

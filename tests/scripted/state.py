"""The scripted server's memory: what it was asked, what its one cache slot holds, which models it has."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from scripted.answers import Answer, Fault, Seen, common_prefix, render, tokens
from scripted.policies import TOO_LONG, Policy, answer

MODEL = "qwen2.5:3b"
SIZE = 1_929_912_432
VERSION = "0.32.15"
WINDOW = 32768
TEMPLATE = (
    "{{- if .Tools }}# Tools{{ range .Tools }}{{ . }}{{ end }}{{ end }}{{ range .Messages }}"
    '{{ if .Content }}{{ .Content }}{{ else if .ToolCalls }}<tool_call>\n{"name": …}\n</tool_call>{{ end }}{{ end }}'
)


@dataclass
class Record:
    """One request. kind: turn | warm | load | probe | canary | pull | other. Token counts follow the one cache slot."""

    path: str
    kind: str
    body: dict[str, Any]
    prompt_tokens: int = 0
    new_tokens: int = 0
    generated_tokens: int = 0
    reply: str = ""
    ended: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For /scripted/requests."""
        return dict(vars(self))


@dataclass
class Plan:
    """What to do with one chat request."""

    record: Record
    answer: Answer
    prompt_count: int
    load_seconds: float
    counts: bool = True
    cost: float | None = None


class State:
    """All that outlives one request. Every method is safe to call from several threads."""

    def __init__(self, policy: Policy, models: Iterable[str] = (MODEL,), version: str = VERSION) -> None:
        self.policy = policy
        self.version = version
        self.models: list[str] = list(models) if policy.pulled else []
        self.records: list[Record] = []
        self.reloads = 0
        self.loaded: dict[str, int] = {}
        self._left = policy.times
        self._slot = ""
        self._lock = threading.Lock()

    # -- requests ------------------------------------------------------------------------------------

    def note(self, path: str, body: dict[str, Any], kind: str = "other") -> Record:
        """Remember a request that asks for no reply of the model."""
        record = Record(path, kind, body)
        with self._lock:
            self.records.append(record)
        return record

    def refusal(self, seen: Seen) -> Fault | None:
        """Why a chat request is refused before the model sees it."""
        name = seen.body.get("model", "")
        if not self.has(name):
            return Fault("status", 404, f"model '{name}' not found")
        if seen.body.get("tools") and not self.policy.tools:
            return Fault("status", 400, f"registry.ollama.ai/library/{name} does not support tools")
        limit = self.policy.context
        if limit is not None and not self.policy.cuts and tokens(len(render(seen))) > limit:
            return Fault("status", 400, TOO_LONG)
        return None

    def load(self, name: str, num_ctx: int) -> float:
        """Make a model the loaded one; the seconds that loading takes (0 when it is there already).

        A change of num_ctx loads anew and loses the cache, as in Ollama (server/sched.go, needsReload).
        """
        with self._lock:
            if self.loaded.get(name) == num_ctx:
                return 0.0
            if name in self.loaded:
                self.reloads += 1
            self._slot = ""
            self.loaded[name] = num_ctx
            return self.policy.load_seconds

    def plan(self, path: str, seen: Seen) -> Plan:
        """Decide on a chat request, and count its tokens against the one slot."""
        options = seen.body.get("options") or {}
        seconds = self.load(seen.body.get("model", ""), options.get("num_ctx") or 4096)
        prompt = render(seen, self.policy.garbled)
        kind = "warm" if seen.is_warming else "probe" if seen.is_probe else "turn"
        kind = "canary" if seen.is_canary else kind
        reply = answer(self.policy, seen)
        with self._lock:
            if kind == "turn" and self.policy.fault is not None and self._left != 0:
                self._left = None if self._left is None else self._left - 1
                reply = Answer(**{**vars(reply), "fault": self.policy.fault})
            shared = common_prefix(self._slot, prompt)
            record = Record(path, kind, seen.body, tokens(len(prompt)), tokens(len(prompt) - shared))
            record.reply = reply.raw + reply.withheld
            record.generated_tokens = tokens(len(reply.thinking + record.reply))
            self._slot = prompt + record.reply + "<|im_end|>\n"
            self.records.append(record)
        limit = self.policy.context
        count = record.prompt_tokens if limit is None else min(limit, record.prompt_tokens)
        asked = (seen.body.get("usage") or {}).get("include")
        return Plan(record, reply, count, seconds, self.policy.counts, self.policy.cost if asked else None)

    # -- models --------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether a model was pulled; no tag means `:latest`."""
        return name in self.models or f"{name}:latest" in self.models

    def pull(self, name: str) -> None:
        """Have a model from now on."""
        with self._lock:
            self.models.append(name)

    def listed(self) -> list[dict[str, Any]]:
        """The models as /api/tags tells them."""
        return [self.described(name) for name in self.models]

    def described(self, name: str) -> dict[str, Any]:
        """One model in a list."""
        details = {
            "parent_model": "",
            "format": "gguf",
            "family": "qwen2",
            "families": ["qwen2"],
            "parameter_size": "3.1B",
            "quantization_level": "Q4_K_M",
        }
        return {
            "name": name,
            "model": name,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": SIZE,
            "digest": hashlib.sha256(name.encode()).hexdigest(),
            "details": details,
        }

    def shown(self, name: str) -> dict[str, Any]:
        """A model as /api/show tells it."""
        return {
            "license": "",
            "modelfile": f"FROM {name}",
            "parameters": 'stop "<|im_end|>"',
            "template": TEMPLATE,
            "details": self.described(name)["details"],
            "model_info": {
                "general.architecture": "qwen2",
                "general.parameter_count": 3_085_938_688,
                "qwen2.context_length": WINDOW,
                "qwen2.block_count": 36,
                "qwen2.embedding_length": 2048,
                "qwen2.attention.head_count": 16,
                "qwen2.attention.head_count_kv": 2,
            },
            "capabilities": ["completion", *(["tools"] if self.policy.tools else [])],
            "modified_at": "2026-01-01T00:00:00Z",
        }

    def running(self) -> list[dict[str, Any]]:
        """The loaded models as /api/ps tells them."""
        later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1800))
        return [
            {**self.described(name), "expires_at": later, "size_vram": 0, "context_length": context}
            for name, context in self.loaded.items()
        ]

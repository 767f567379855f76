"""The editor at the other end, as the runs see it: what it can do, and the ways to reach it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.capabilities import get_capability
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path

from regreen.lsp.documents import Document
from regreen.lsp.protocol import RegreenProtocol
from regreen.redact import Redactor

log = logging.getLogger(__name__)

Payload = Mapping[str, Any]


class Editor:
    """One client.

    `preview` is true for our own extension only: it shows proposals in a diff, with Accept and Reject.
    That a client announces `changeAnnotationSupport` tells nothing: Sublime Text announces it and applies
    without asking.
    """

    def __init__(self, protocol: RegreenProtocol) -> None:
        self._protocol = protocol
        self.preview = False
        self.closing = False
        self._redactor = Redactor.of_this_process()
        self._decisions: dict[str, Payload | None] = {}

    @property
    def documents(self) -> list[Document]:
        """Every open document."""
        return self._protocol.documents.all()

    def document(self, path: Path) -> Document | None:
        """The open document of a file."""
        return self._protocol.documents.at(path)

    def uri(self, path: Path) -> str:
        """The address of a file: the one the editor uses, where the file is open."""
        document = self.document(path)
        return document.uri if document else str(from_fs_path(str(path)))

    def units(self, text: str) -> int:
        """The length of a text as the client counts."""
        return self._protocol.documents.units(text)

    def can(self, capability: str) -> bool:
        """Whether the client announced a capability, by its snake_case path."""
        return bool(get_capability(self._protocol.client_capabilities, capability, False))

    def can_create_files(self) -> bool:
        """Whether the client carries out file creation inside a workspace edit."""
        kinds = get_capability(
            self._protocol.client_capabilities, "workspace.workspace_edit.resource_operations", None
        )
        return lsp.ResourceOperationKind.Create in (kinds or ())

    # --- one way ---------------------------------------------------------------------------------------

    def notify(self, method: str, payload: Any) -> None:
        """Send a notification, unless the connection is closing."""
        if not self.closing:
            self._protocol.notify(method, payload)

    def log(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """One entry of the client's log, without secrets."""
        safe = self._redactor.text(text)
        self.notify(lsp.WINDOW_LOG_MESSAGE, lsp.LogMessageParams(type=kind, message=safe))

    def show(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        """One line that the person sees, without secrets."""
        safe = self._redactor.text(text)
        self.notify(lsp.WINDOW_SHOW_MESSAGE, lsp.ShowMessageParams(type=kind, message=safe))

    # --- with an answer --------------------------------------------------------------------------------

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request. Raises JsonRpcException when the answer is an error or makes no sense."""
        return await self._protocol.ask(method, params)

    async def choose(
        self, text: str, choices: Sequence[str], kind: lsp.MessageType = lsp.MessageType.Info
    ) -> str:
        """Ask the person; "" when the question was dismissed or could not be put.

        A dismissed question comes back as null, as an error (eglot's C-g), or as `{}` (Kate).
        """
        actions = [lsp.MessageActionItem(title=choice) for choice in choices]
        request = lsp.ShowMessageRequestParams(type=kind, message=text, actions=actions)
        try:
            answer = await self.ask(lsp.WINDOW_SHOW_MESSAGE_REQUEST, request)
        except JsonRpcException as error:
            log.info("question not answered: %s", error)
            return ""
        title = answer.title if isinstance(answer, lsp.MessageActionItem) else ""
        return title if title in choices else ""

    async def apply(self, edit: lsp.WorkspaceEdit, label: str) -> tuple[bool, str]:
        """Ask the editor to apply an edit: whether it says it did, and the reason it gives otherwise.

        What it says is a claim. Neovim says yes to an edit it dropped, VS Code to half of one.
        """
        metadata = None
        if self.can("workspace.workspace_edit.metadata_support"):
            metadata = lsp.WorkspaceEditMetadata(is_refactoring=False)
        params = lsp.ApplyWorkspaceEditParams(edit=edit, label=label, metadata=metadata)
        try:
            answer = await self.ask(lsp.WORKSPACE_APPLY_EDIT, params)
        except JsonRpcException as error:
            return False, str(error)
        if not isinstance(answer, lsp.ApplyWorkspaceEditResult):
            return False, ""
        return bool(answer.applied), answer.failure_reason or ""

    # --- decisions of our own client -------------------------------------------------------------------

    def expect_decision(self, proposal: str) -> None:
        """Keep the decision on this proposal when it comes; it comes before the answer to the edit."""
        self._decisions[proposal] = None

    def decided(self, params: Payload) -> None:
        """`regreen/decision` came. One that nobody waits for is late and changes nothing."""
        proposal = str(params.get("proposal"))
        if proposal in self._decisions:
            self._decisions[proposal] = params

    def take_decision(self, proposal: str) -> Payload | None:
        """The decision on this proposal, if one came; nothing is expected any more."""
        return self._decisions.pop(proposal, None)

    def is_expected(self, proposal: str) -> bool:
        """Whether another proposal of the same name waits for its decision."""
        return proposal in self._decisions


def text_map(value: object) -> dict[str, str]:
    """The entries of an object that are texts; {} for anything else."""
    if not isinstance(value, Mapping):
        return {}
    entries = cast("Mapping[Any, Any]", value).items()
    return {key: text for key, text in entries if isinstance(key, str) and isinstance(text, str)}

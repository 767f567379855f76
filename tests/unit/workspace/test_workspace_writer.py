"""Writing: all of a change or nothing, over exactly what it was computed from, with everything else kept."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.workspace import writer as writing
from regreen.workspace.changes import FileChange
from regreen.workspace.journal import Journal, in_use, read_entries
from regreen.workspace.names import PathRefused
from regreen.workspace.recovery import undo
from regreen.workspace.root import Workspace
from regreen.workspace.text import UndecodableFile, decode
from regreen.workspace.writer import CannotWrite, Conflict, Unsupported, Writer
from unit.workspace.conftest import SmallDisk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


def change(path: str, before: bytes | None, after: str) -> FileChange:
    return FileChange(path, None if before is None else decode(before).text, after, before)


class Desk:
    """A workspace with one file, and a writer whose steps can be stopped at."""

    def __init__(self, base: Path, journal: Path) -> None:
        self.root = base / "ws"
        self.root.mkdir()
        self.file = self.root / "cart.py"
        self.file.write_bytes(b"a = 1\n")
        self.workspace = Workspace.open(self.root)
        self.folder = journal
        self.journal = Journal(journal, "run-1")
        self.steps: list[str] = []
        self.at: dict[str, object] = {}
        self.writer = Writer(self.workspace, self.journal, self._hook)

    def _hook(self, step: str) -> None:
        self.steps.append(step)
        act = self.at.get(step)
        if callable(act):
            act()

    def write(self, after: str = "a = 2\n", path: str = "cart.py", before: bytes | None = b"a = 1\n") -> None:
        self.writer.write(change(path, before, after))

    def names(self) -> list[str]:
        return sorted(str(p.relative_to(self.root)) for p in self.root.rglob("*"))

    def undo(self) -> list[tuple[str, str]]:
        self.journal.close()
        return undo(self.folder, "run-1")


@pytest.fixture(params=["same disk", "other disk", "no exchange"])
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The journal beside the workspace, on another file system, and a file system that cannot exchange."""
    journal = tmp_path / "state" / "journal"
    other = None
    if request.param == "other disk":
        if not Path("/dev/shm").is_dir() or Path("/dev/shm").stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("no second file system")
        other = tempfile.TemporaryDirectory(dir="/dev/shm")
        journal = Path(other.name) / "journal"
    if request.param == "no exchange":

        def unsupported(folder: int, old: str, new: str, flags: int) -> None:
            raise Unsupported

        monkeypatch.setattr(writing, "_rename", unsupported)
    made = Desk(tmp_path, journal)
    yield made
    made.journal.close()
    made.workspace.close()
    if other is not None:
        other.cleanup()


def test_a_change_is_written_and_can_be_taken_back(desk: Desk):
    desk.write()
    assert desk.file.read_bytes() == b"a = 2\n"
    assert desk.names() == ["cart.py"]
    assert desk.undo() == [("cart.py", "restored")]
    assert desk.file.read_bytes() == b"a = 1\n"
    assert undo(desk.folder, "run-1") == [("cart.py", "as before")]


def test_nothing_is_created_before_the_first_write(desk: Desk):
    assert not desk.folder.exists()
    desk.write()
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700


def test_a_new_file_and_its_folders_come_and_go(desk: Desk):
    desk.write("x = 'é'\n", "src/deep/new.py", None)
    new = desk.root / "src" / "deep" / "new.py"
    assert new.read_bytes() == "x = 'é'\n".encode()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~umask
    assert desk.undo() == [("src/deep/new.py", "removed")]
    assert desk.names() == ["cart.py"]
    assert any(kept.read_bytes() == "x = 'é'\n".encode() for kept in (desk.folder / "kept").iterdir())


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o664, 0o200 | 0o400])
def test_the_mode_is_kept(desk: Desk, mode: int):
    desk.file.chmod(mode)
    desk.write()
    assert stat.S_IMODE(desk.file.stat().st_mode) == mode


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="extended attributes of Linux")
def test_extended_attributes_are_kept(desk: Desk):
    try:
        os.setxattr(desk.file, "user.note", b"mine")  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        pytest.skip("this file system has no extended attributes")
    desk.write()
    assert os.getxattr(desk.file, "user.note") == b"mine"  # type: ignore[attr-defined,unused-ignore]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(desk: Desk):
    os.chown(desk.file, 12345, 12346)
    desk.write()
    assert (desk.file.stat().st_uid, desk.file.stat().st_gid) == (12345, 12346)


@pytest.mark.parametrize(
    "raw",
    [b"\xef\xbb\xbfa = 1\r\nb = 2", b"a = 1\r\nb = 2\nc = 3\r", b"# coding: latin-1\na = 1 # \xe9\n", "\ufeffa = 1\r\n".encode("utf-16-le")],
)  # fmt: skip
def test_bytes_outside_the_edit_are_the_same(desk: Desk, raw: bytes):
    desk.file.write_bytes(raw)
    text = decode(raw)
    desk.writer.write(FileChange("cart.py", text.text, text.text.replace("a = 1", "a = 2"), raw))
    old, new = ("a = 1".encode(text.encoding), "a = 2".encode(text.encoding))
    assert desk.file.read_bytes() == raw.replace(old, new, 1)


def test_a_file_changed_since_it_was_read_is_not_touched(desk: Desk):
    desk.file.write_bytes(b"mine\n")
    with pytest.raises(Conflict, match=r"'cart.py' was changed by somebody else"):
        desk.write()
    assert desk.file.read_bytes() == b"mine\n"
    assert desk.names() == ["cart.py"]


def test_a_file_removed_or_made_since_is_a_conflict(desk: Desk):
    with pytest.raises(Conflict, match="exists by now"):
        desk.write("x\n", "cart.py", None)
    desk.file.unlink()
    with pytest.raises(Conflict, match="gone by now"):
        desk.write()
    with pytest.raises(Conflict, match="gone by now"):
        desk.write("x\n", "no/such/folder.py", b"y\n")
    assert desk.names() == []


def test_a_change_in_place_during_the_write_wins(desk: Desk):
    desk.at["dressed"] = lambda: desk.file.write_bytes(b"mine, late\n")
    with pytest.raises(Conflict, match="during the write"):
        desk.write()
    assert desk.file.read_bytes() == b"mine, late\n"
    assert desk.names() == ["cart.py"]
    assert desk.undo() == []


def test_an_editor_that_saves_by_renaming_during_the_write_wins(desk: Desk):
    def save() -> None:
        other = desk.root / "cart.py~"
        other.write_bytes(b"saved by an editor\n")
        other.replace(desk.file)

    desk.at["dressed"] = save
    with pytest.raises(Conflict):
        desk.write()
    assert desk.file.read_bytes() == b"saved by an editor\n"
    assert desk.names() == ["cart.py"]


def test_a_file_made_by_somebody_else_during_the_write_wins(desk: Desk):
    desk.at["dressed"] = lambda: (desk.root / "new.py").write_bytes(b"theirs\n")
    with pytest.raises(Conflict, match="at the same moment"):
        desk.write("ours\n", "new.py", None)
    assert (desk.root / "new.py").read_bytes() == b"theirs\n"
    assert desk.names() == ["cart.py", "new.py"]


def test_a_link_put_in_the_way_during_the_write_leads_nowhere(desk: Desk, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"a = 1\n")

    def swap() -> None:
        desk.file.unlink()
        desk.file.symlink_to(outside)

    desk.at["dressed"] = swap
    with pytest.raises((Conflict, PathRefused)):
        desk.write()
    assert outside.read_bytes() == b"a = 1\n"


def test_what_an_old_descriptor_writes_later_is_found(desk: Desk):
    with desk.file.open("ab", buffering=0) as held:
        desk.write()
        held.write(b"late line\n")
    late = desk.journal.close()
    assert [path for path, _ in late] == ["cart.py"]
    assert late[0][1].read_bytes() == b"a = 1\nlate line\n"
    assert desk.file.read_bytes() == b"a = 2\n"
    assert any(entry["op"] == "late" for entry in read_entries(desk.folder))


def test_a_read_only_file_is_refused_in_words(desk: Desk):
    desk.file.chmod(0o444)
    with pytest.raises(CannotWrite, match=r"cart.py is read-only.*`chmod u\+w cart.py`"):
        desk.write()
    assert desk.file.read_bytes() == b"a = 1\n"


def test_a_hard_link_and_a_link_are_refused(desk: Desk, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"a = 1\n")
    os.link(outside, desk.root / "hard.py")
    (desk.root / "soft.py").symlink_to(outside)
    (desk.root / "up").symlink_to(tmp_path)
    for path in ("hard.py", "soft.py"):
        with pytest.raises(PathRefused, match="link"):
            desk.write(path=path)
    with pytest.raises(PathRefused, match="link"):
        desk.write("x\n", "up/new.py", None)
    assert outside.read_bytes() == b"a = 1\n"
    assert not (tmp_path / "new.py").exists()


@pytest.mark.parametrize(
    "path", ["tests/test_cart.py", ".git/hooks/post-commit", "../x.py", "conftest.py", ".env"]
)
def test_the_writer_asks_the_same_policy(desk: Desk, path: str):
    with pytest.raises(PathRefused):
        desk.write("x\n", path, None)
    assert desk.names() == ["cart.py"]


def test_a_pytest_table_is_not_brought_in(desk: Desk):
    with pytest.raises(PathRefused, match="test configuration"):
        desk.write("[tool.pytest.ini_options]\n", "pyproject.toml", None)


def test_a_replaced_workspace_is_not_written_into(desk: Desk, tmp_path: Path):
    desk.root.rename(tmp_path / "old")
    desk.root.mkdir()
    desk.file.write_bytes(b"a = 1\n")
    with pytest.raises(PathRefused, match="replaced"):
        desk.write()
    assert desk.file.read_bytes() == b"a = 1\n"


def test_text_the_encoding_lacks_is_refused_before_anything_is_made(desk: Desk):
    desk.file.write_bytes(b"# coding: ascii\n")
    with pytest.raises(UndecodableFile):
        desk.write("# coding: ascii\n# é\n", before=b"# coding: ascii\n")
    assert not desk.folder.exists()


def test_undo_leaves_alone_what_the_person_changed_since(desk: Desk):
    desk.write()
    desk.write("x\n", "new.py", None)
    desk.write("y\n", "other.py", None)
    desk.file.write_bytes(b"a = 2\nmine\n")
    (desk.root / "new.py").write_bytes(b"x\nmine\n")
    assert desk.undo() == [
        ("cart.py", "left alone: it was changed since"),
        ("new.py", "left alone: it was changed since"),
        ("other.py", "removed"),
    ]
    assert desk.file.read_bytes() == b"a = 2\nmine\n"
    assert desk.names() == ["cart.py", "new.py"]


def test_undo_goes_back_over_several_changes_of_a_file(desk: Desk):
    desk.write("a = 2\n")
    desk.write("a = 3\n", before=b"a = 2\n")
    desk.write("a = 4\n", before=b"a = 3\n")
    assert desk.undo() == [("cart.py", "restored")]
    assert desk.file.read_bytes() == b"a = 1\n"


def test_undo_of_a_change_and_of_a_removed_file(desk: Desk):
    desk.write()
    desk.file.unlink()
    assert desk.undo() == [("cart.py", "left alone: it was changed since")]


def test_undo_is_refused_while_the_run_goes_on(desk: Desk):
    desk.write()
    assert in_use(desk.folder)
    with pytest.raises(UsageError, match="still going"):
        undo(desk.folder, "run-1")


def test_what_the_editor_wrote_is_noted_and_can_be_taken_back(desk: Desk):
    edit = change("cart.py", b"a = 1\n", "a = 5\n")
    desk.writer.note(edit)
    assert desk.file.read_bytes() == b"a = 1\n"
    desk.file.write_bytes(b"a = 5\n")
    desk.writer.take_back(edit)  # Only what this writer wrote itself.
    assert desk.file.read_bytes() == b"a = 5\n"
    assert desk.undo() == [("cart.py", "restored")]
    assert desk.file.read_bytes() == b"a = 1\n"


def test_take_back_within_a_proposal(desk: Desk):
    first = change("cart.py", b"a = 1\n", "a = 2\n")
    second = change("src/new.py", None, "x\n")
    desk.writer.write(first)
    desk.writer.write(second)
    desk.writer.take_back(second)
    desk.writer.take_back(first)
    assert desk.file.read_bytes() == b"a = 1\n"
    assert desk.names() == ["cart.py"]
    assert desk.undo() == [("cart.py", "as before"), ("src/new.py", "as before")]


def test_a_damaged_journal_is_told_and_nothing_is_changed(desk: Desk):
    desk.write()
    desk.journal.close()
    for blob in (desk.folder / "blobs").iterdir():
        blob.write_bytes(b"rubbish")
    with pytest.raises(UsageError, match="damaged"):
        undo(desk.folder, "run-1")
    assert desk.file.read_bytes() == b"a = 2\n"


def test_a_journal_folder_of_somebody_else_is_not_used(desk: Desk):
    desk.folder.mkdir(parents=True)
    desk.folder.chmod(0o777)
    with pytest.raises(UsageError, match="open to others"):
        desk.write()
    assert desk.file.read_bytes() == b"a = 1\n"


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, small_disk: SmallDisk):
    disk = small_disk(64)
    desk = Desk(disk, tmp_path / "journal")
    with pytest.raises(CannotWrite, match="the disk is full"):
        desk.write("x" * (1 << 20))
    assert desk.file.read_bytes() == b"a = 1\n"
    assert desk.names() == ["cart.py"]
    desk.journal.close()
    desk.workspace.close()
    (disk / "other").mkdir()
    full = Desk(disk / "other", disk / "journal")
    with pytest.raises(CannotWrite, match="the disk is full"):
        full.write("x" * (1 << 20))
    assert full.file.read_bytes() == b"a = 1\n"
    full.journal.close()
    full.workspace.close()

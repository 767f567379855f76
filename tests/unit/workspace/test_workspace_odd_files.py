"""Files that are not like others: with more rights, with access lists, holes, or too much in them; and full disks."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from regreen.workspace.changes import FileChange
from regreen.workspace.draft import Draft
from regreen.workspace.journal import Journal
from regreen.workspace.names import PathRefused
from regreen.workspace.policy import LARGEST_FILE, LARGEST_GROWTH
from regreen.workspace.recovery import undo
from regreen.workspace.root import Workspace
from regreen.workspace.writer import CannotWrite, Conflict, Writer
from unit.workspace.conftest import SmallDisk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")

OLD, NEW = b"a = 1\n", "a = 2\n"


class Place:
    """A workspace with files a.py and b.py, and a writer."""

    def __init__(self, base: Path, journal: Path) -> None:
        self.root = base / "ws"
        self.root.mkdir()
        self.journal_folder = journal
        for name in ("a.py", "b.py"):
            (self.root / name).write_bytes(OLD)
        self.workspace = Workspace.open(self.root)
        self.journal = Journal(journal, "run-1")
        self.writer = Writer(self.workspace, self.journal)

    def write(self, name: str = "a.py", after: str = NEW) -> None:
        self.writer.write(FileChange(name, OLD.decode(), after, OLD))

    def read(self, name: str = "a.py") -> bytes:
        return (self.root / name).read_bytes()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path / "journal")


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6711])
def test_rights_of_the_owner_do_not_go_over_to_new_content(place: Place, mode: int):
    (place.root / "a.py").chmod(mode)
    with pytest.raises(CannotWrite, match="setuid"):
        place.write()
    assert place.read() == OLD
    assert (place.root / "a.py").stat().st_mode & 0o7777 == mode


def test_capabilities_do_not_go_over_to_new_content(place: Place):
    # struct vfs_ns_cap_data, revision 2: CAP_NET_RAW permitted.
    value = struct.pack("<IIIII", 0x02000000, 1 << 13, 0, 0, 0)
    try:
        os.setxattr(place.root / "a.py", "security.capability", value)
    except OSError:
        pytest.skip("capabilities of files cannot be set here")
    with pytest.raises(CannotWrite, match="capabilities"):
        place.write()
    assert place.read() == OLD
    assert sorted(path.name for path in place.root.iterdir()) == ["a.py", "b.py"]


def test_an_access_list_is_kept(place: Place):
    # acl(5) in its stored form: owner rw, user 12345 r, group r, mask r, others nothing.
    entries = [
        (1, 6, 0xFFFFFFFF),
        (2, 4, 12345),
        (4, 4, 0xFFFFFFFF),
        (16, 4, 0xFFFFFFFF),
        (32, 0, 0xFFFFFFFF),
    ]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(place.root / "a.py", "system.posix_acl_access", value)
    except OSError:
        pytest.skip("no access lists on this file system")
    place.write()
    assert place.read() == NEW.encode()
    assert os.getxattr(place.root / "a.py", "system.posix_acl_access") == value
    assert (place.root / "a.py").stat().st_mode & 0o777 == 0o640


def test_rights_that_the_folder_gives_to_new_files_are_not_given_to_an_old_one(place: Place):
    entries = [(1, 7, -1), (2, 7, 12345), (4, 5, -1), (16, 7, -1), (32, 0, -1)]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(place.root, "system.posix_acl_default", value)
    except OSError:
        pytest.skip("no access lists on this file system")
    place.write()
    assert place.read() == NEW.encode()
    assert os.listxattr(place.root / "a.py") == []
    place.journal.close()
    assert undo(place.journal_folder, "run-1") == [("a.py", "restored")]
    assert os.listxattr(place.root / "a.py") == []


def test_a_file_full_of_holes_is_not_read_into_memory(place: Place):
    with (place.root / "a.py").open("r+b") as file:
        file.truncate(1 << 40)
    with pytest.raises(PathRefused, match="too large"):
        place.workspace.read("a.py")
    with pytest.raises(PathRefused, match="too large"):
        place.write()


def draft(place: Place) -> Draft:
    return Draft(place.workspace.read)


def test_an_edit_that_adds_too_much_is_refused_with_the_limit(place: Place):
    with pytest.raises(PathRefused, match=r"'a.py' would grow by 20 MB, 1 MB are allowed in one edit"):
        draft(place).change("a.py", "x" * (20 << 20))
    with pytest.raises(PathRefused, match="would grow"):
        draft(place).change("new.py", "x" * (LARGEST_GROWTH + 1))
    assert draft(place).change("new.py", "x" * LARGEST_GROWTH).after


def test_an_edit_in_a_large_file_is_fine_until_the_file_is_too_large(place: Place):
    (place.root / "a.py").write_bytes(b"#" * (LARGEST_FILE - 10))
    text = "#" * (LARGEST_FILE - 10)
    assert draft(place).change("a.py", text + "12345").path == "a.py"
    with pytest.raises(PathRefused, match="8 MB are allowed"):
        draft(place).change("a.py", text + "#" * 11)


def test_one_file_of_several_is_taken_back(place: Place):
    place.write("a.py")
    place.write("b.py")
    place.journal.close()
    assert undo(place.journal_folder, "run-1", ["b.py"]) == [("b.py", "restored")]
    assert (place.read("a.py"), place.read("b.py")) == (NEW.encode(), OLD)
    assert undo(place.journal_folder, "run-1") == [("a.py", "restored"), ("b.py", "as before")]
    assert place.read("a.py") == OLD


def test_a_disk_that_fails_in_the_midst_of_a_proposal_is_no_reason_to_forget_the_file_before(place: Place):
    place.write("a.py")
    place.root.chmod(0o555)
    change = FileChange("a.py", OLD.decode(), NEW, OLD)
    real = os.open

    def full(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and str(path).endswith(".regreen"):
            raise OSError(28, "No space left on device")
        return real(path, flags, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", full)
        assert place.writer.take_back(change) is False
    place.root.chmod(0o755)
    place.journal.close()
    assert place.read() == NEW.encode()
    assert undo(place.journal_folder, "run-1") == [("a.py", "restored")]
    assert place.read() == OLD


def test_undo_takes_back_what_it_can_and_names_the_rest(place: Place):
    place.write("a.py")
    place.write("b.py")
    place.journal.close()
    (place.root / "b.py").chmod(0o444)
    (place.root / "a.py").write_bytes(b"mine\n")
    told = dict(undo(place.journal_folder, "run-1"))
    assert told["a.py"] == "left alone: it was changed since"
    assert told["b.py"].startswith("left alone: b.py is read-only.")
    (place.root / "b.py").chmod(0o644)
    assert dict(undo(place.journal_folder, "run-1"))["b.py"] == "restored"
    assert place.read("a.py") == b"mine\n"


def test_a_folder_that_vanishes_is_a_conflict(place: Place):
    (place.root / "src").mkdir()
    (place.root / "src" / "c.py").write_bytes(OLD)

    def vanish(step: str) -> None:
        if step == "intent":
            (place.root / "src").rename(place.root / "moved")

    writer = Writer(place.workspace, place.journal, vanish)
    with pytest.raises(Conflict, match="gone"):
        writer.write(FileChange("src/c.py", OLD.decode(), NEW, OLD))
    assert (place.root / "moved" / "c.py").read_bytes() == OLD


def test_undo_on_a_full_disk_says_so_and_works_when_there_is_room(tmp_path: Path, small_disk: SmallDisk):
    disk = small_disk(256)
    place = Place(disk, tmp_path / "journal")
    place.write()
    place.journal.close()
    place.workspace.close()
    filler = disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(b"x" * (1 << 20))
    assert undo(place.journal_folder, "run-1")[0][1].startswith("left alone: a.py: the disk is full")
    assert place.read() == NEW.encode()
    filler.unlink()
    assert undo(place.journal_folder, "run-1") == [("a.py", "restored")]
    assert sorted(path.name for path in place.root.iterdir()) == ["a.py", "b.py"]

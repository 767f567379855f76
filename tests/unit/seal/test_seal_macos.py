"""The profile for macOS, as text: what it names, what it does not, and that no path can write rules of its own."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.testing.seal.door import Access
from regreen.testing.seal.macos import profile
from unit.seal.test_seal_parts import interpreter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")

Rule = list["str | Rule"]
_WORD = re.compile(r'\s*(?:(\()|(\))|("(?:[^"\\]|\\.)*")|([^\s()"]+))', re.DOTALL)


def parsed(text: str) -> list[Rule]:
    """The rules of a profile as lists of words, read as its language is: strings keep their quotes, unescaped."""
    stack: list[Rule] = [[]]
    at = 0
    while at < len(text.rstrip()):
        found = _WORD.match(text, at)
        assert found, text[at:]
        at = found.end()
        opens, closes, string, word = found.groups()
        if opens:
            stack.append([])
        elif closes:
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(
                word if word is not None else '"' + re.sub(r"\\(.)", r"\1", string[1:-1], flags=re.DOTALL)
            )
    assert len(stack) == 1
    return [rule for rule in stack[0] if isinstance(rule, list)]


def named(rules: list[Rule], operation: str) -> set[tuple[str, str]]:
    """(kind, path) of everything that one operation is allowed on."""
    return {
        (str(part[0]), str(part[1])[1:])
        for rule in rules
        if rule[:2] == ["allow", operation]
        for part in rule[2:]
        if isinstance(part, list)
    }


@pytest.fixture
def access(tmp_path: Path) -> Access:
    for name in ("ws", "tree", "scratch"):
        (tmp_path / name).mkdir()
    return Access(
        tmp_path / "ws",
        tmp_path / "tree",
        tmp_path / "scratch",
        interpreter(tmp_path / "opt" / "python"),
    )


def test_everything_is_denied_but_what_is_named(access: Access, tmp_path: Path):
    rules = parsed(profile(access))
    assert rules[:2] == [["version", "1"], ["deny", "default"]]
    assert {str(rule[1]) for rule in rules[2:]} == {
        "process-fork", "signal", "sysctl-read", "process-exec", "file-read-metadata", "file-read*", "file-write*",
    }  # fmt: skip
    assert named(rules, "file-write*") == {
        ("subpath", f"{tmp_path}/tree"),
        ("subpath", f"{tmp_path}/scratch"),
        ("literal", "/dev/null"),
        ("literal", "/dev/dtracehelper"),
    }


def test_the_interpreter_can_be_read_and_the_persons_files_cannot(access: Access, tmp_path: Path):
    read = named(parsed(profile(access)), "file-read*")
    assert ("subpath", f"{tmp_path}/opt/python") in read
    assert ("subpath", "/System") in read
    paths = {path for _, path in read}
    assert not paths & {"/", "/Users", "/Library", "/private", "/private/tmp", "/opt/homebrew", str(tmp_path)}
    assert f"{tmp_path}/ws" not in paths
    assert not any(path.startswith(str(Path("~").expanduser())) for path in paths)
    # Folders on the way can be looked at, which says that they exist, and not be listed.
    assert ("literal", str(tmp_path)) in named(parsed(profile(access)), "file-read-metadata")


@pytest.mark.parametrize(
    "name",
    ['tr"ee', "back\\slash", "ends\\", '\\"', '") (allow default) ("', "a (b) c", "; comment", '#"^"', "new\nline", "é 日本"],
)  # fmt: skip
def test_a_path_cannot_write_rules(access: Access, tmp_path: Path, name: str):
    plain = parsed(profile(access))
    (tmp_path / name).mkdir()
    rules = parsed(profile(replace(access, tree=tmp_path / name)))
    assert [rule[:2] for rule in rules] == [rule[:2] for rule in plain]
    assert [len(rule) for rule in rules] == [len(rule) for rule in plain]
    assert ("subpath", f"{tmp_path}/{name}") in named(rules, "file-write*")


def test_links_are_resolved_as_the_kernel_compares_real_paths(access: Access, tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "scratch")
    written = named(parsed(profile(replace(access, scratch=tmp_path / "link"))), "file-write*")
    assert ("subpath", f"{tmp_path}/scratch") in written
    assert ("subpath", f"{tmp_path}/link") not in written


def test_the_network_comes_by_address_and_without_sockets_of_programs(access: Access):
    rules = parsed(profile(replace(access, network=True)))
    assert all(rule[0] in ("version", "deny", "allow") for rule in rules)
    allowed = {str(rule[1]): rule[2:] for rule in rules if str(rule[1]).startswith(("network", "mach"))}
    assert set(allowed) == {"network-outbound", "network-inbound", "network-bind", "mach-lookup"}
    assert allowed["network-outbound"] == [
        ["remote", "ip", '"*:*'],
        ["literal", '"/private/var/run/mDNSResponder'],
    ]
    assert allowed["mach-lookup"] == [["global-name", '"com.apple.SystemConfiguration.configd']]

"""Paths that a model may not use are refused by their letters, and the refusal names the rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regreen.workspace.names import PathRefused, fold, split

REFUSED = {
    "empty": [""],
    "outside": ["..", "../x", "a/../b", "a/../../b", "src/.."],
    "relative": ["/etc/passwd", "//srv/share", "\\\\srv\\share", "a\\..\\b", "src\\cart.py", "/"],
    "home": ["~", "~/x", "~root/x"],
    "drives": ["C:/x", "C:x", "a.py:stream", "a.py::$DATA", "file:x"],
    "empty names": ["a//b", "./a", "a/.", ".", "a/", "a/./b"],
    "invisible": [
        "a\0b",
        "a\nb",
        "a\rb",
        "a\tb",
        "\x7f",
        "a\u200cb",
        "a\u202eyp.b",
        "\ufeffa",
        "a\ud800",
        "a\u2028b",
        "x\U000e0041",
        ".git\ufe0f/config",
        "te\u034fst.py",
        "\u3164.py",
        "a\U000e0100.py",
    ],
    "stand for": [
        "．．/x",
        "src/．．/．．/etc",
        "‥/x",
        "．",
        "／etc",
        "a／b.py",
        "a＼b.py",
        "a.py．",
        "..∕x",
        ".git⁄config",
        "a⧸b.py",
    ],
    "blanks": [
        "a\u00a0b",
        "\u3000.py",
        "cart\u2003.py",
    ],
    "space": [" a", "a ", "a./x", "a. /x", ".git ./config", "b/ c", "x."],
    "device": ["nul", "NUL.txt", "com1.py", "src/aux/x", "LPT9", "con", "COM¹", "CONIN$", "prn.tar.gz"],
    "aliases": ["PROGRA~1/x", "GIT~1/config", "KIRO-~10", "a/b~1.py"],
    "cannot store": ["a<b", "a>b", 'a"b', "a|b", "a?b", "a*b"],
    "longer": ["a" * 256, "é" * 130, "/".join(["a" * 200] * 6)],
}


@pytest.mark.parametrize(
    ("word", "path"), [(word, path) for word, paths in REFUSED.items() for path in paths]
)
def test_a_bad_path_is_refused_and_the_rule_is_named(word: str, path: str):
    with pytest.raises(PathRefused) as refused:
        split(path)
    message = str(refused.value)
    assert word in message
    assert message.isprintable()


@pytest.mark.parametrize(
    "path",
    [
        "a.py", "src/shop/cart.py", ".github/workflows/ci.yml", "a b.py", "tests/données/é.txt", "日本/語.py", "a-b_c+d.py",
        "x~y.py", "backup~", "..a", "a..b", "...a/b", "console.py", "com10.py", "nullable.py", "a'b.py", "[x].py", "a,b;c", "…more.txt", "質問：1.py", "ｗｉｄｅ.py",
    ],
)  # fmt: skip
def test_an_ordinary_path_is_taken_apart(path: str):
    assert split(path) == tuple(path.split("/"))


@pytest.mark.parametrize(
    ("written", "same"),
    [(".GIT", ".git"), (".gıt", ".git"), ("．ｇｉｔ", ".git"), (".Git", ".git"), ("ﬁle", "file"), ("STRASSE", "straße")],
)  # fmt: skip
def test_names_that_some_disk_takes_for_the_same_fold_to_one(written: str, same: str):
    assert fold(written) == fold(same)


@given(st.text(max_size=30))
def test_nothing_but_a_refusal_ever_comes_of_a_text(path: str):
    try:
        names = split(path)
    except PathRefused:
        return
    assert "/".join(names) == path
    assert not any(name in ("", ".", "..") for name in names)
    assert "\\" not in path
    assert ":" not in path

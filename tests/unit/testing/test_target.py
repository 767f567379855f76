"""What a person types as a target."""

from __future__ import annotations

from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.testing.target import ParsedTarget, Target, parse_target, split_nodeid

SOURCE = """\
class TestCart:
    def test_total(self):
        assert 1


def test_price():
    assert 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_cart.py").write_text(SOURCE)
    (tmp_path / "notes.txt").write_text("x")
    return tmp_path


def test_a_path_with_names_and_an_id(folder: Path) -> None:
    parsed = parse_target("tests/test_cart.py::TestCart::test_total[a::b-[1]]", folder)
    assert parsed == ParsedTarget(folder / "tests/test_cart.py", ("TestCart", "test_total"), "a::b-[1]")
    target = parsed.within(folder)
    assert target.nodeid == "tests/test_cart.py::TestCart::test_total[a::b-[1]]"


@pytest.mark.parametrize(
    ("line", "names"), [(1, ("TestCart",)), (3, ("TestCart", "test_total")), (7, ("test_price",))]
)
def test_a_line_stands_for_the_test_there(folder: Path, line: int, names: tuple[str, ...]) -> None:
    assert parse_target(f"tests/test_cart.py:{line}", folder).names == names


def test_a_path_alone_stands_for_all_its_failing_tests(folder: Path) -> None:
    parsed = parse_target("tests/../tests/test_cart.py", folder)
    assert parsed == ParsedTarget(folder / "tests/test_cart.py")
    assert not parsed.single
    assert parse_target("tests", folder).within(folder).path == "tests"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no target given"),
        ("tests/test_cart.py:4", "no test at tests/test_cart.py:4; the nearest is TestCart::test_total"),
        ("tests/test_cart.py::test_prise", "did you mean tests/test_cart.py::test_price?"),
        ("tests/test_cart.py::Nope::test_priceless", "no test Nope::test_priceless"),
        ("tests/test_card.py", "did you mean tests/test_cart.py?"),
        ("other/test_x.py::test_a", "no such file: other/test_x.py"),
        ("notes.txt", "not a Python file"),
    ],
)
def test_a_wrong_target_gets_one_line_that_says_what_to_do(folder: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(text, folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_inherited_and_generated_tests_are_let_through(folder: Path) -> None:
    assert (
        parse_target("tests/test_cart.py::TestCart::test_from_a_base", folder).names[-1] == "test_from_a_base"
    )


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("test_made.py", "TestMade = type('TestMade', (), {f'test_{n}': print for n in range(3)})\n"),
        ("test_made.py", "for n in range(3):\n    globals()[f'test_{n}'] = print\n"),
        ("additions.cases", "1 + 2 = 3\n"),
    ],
)
def test_names_that_stand_nowhere_in_the_file_are_for_pytest_to_find(
    folder: Path, file: str, source: str
) -> None:
    (folder / file).write_text(source)
    assert parse_target(f"{file}::TestMade::test_2", folder).names == ("TestMade", "test_2")


OWN_NAMES = """\
class DescribeAdding:
    def it_adds(self):
        assert 1

if True:
    @decorated
    async def should_add():
        assert 2

@pytest.fixture
def basket():
    return 3
"""


@pytest.mark.parametrize(
    ("config", "content"),
    [
        ("pytest.ini", "[pytest]\npython_functions = it_* should_*\npython_classes = Describe*\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_functions = ['it_*', 'should_*']\n"),
    ],
)
def test_a_line_finds_tests_that_a_project_names_in_its_own_way(
    folder: Path, config: str, content: str
) -> None:
    (folder / "tests/spec.py").write_text(OWN_NAMES)
    with pytest.raises(UsageError, match="no test in"):
        parse_target("tests/spec.py:3", folder)
    (folder / config).write_text(content)
    assert parse_target("tests/spec.py:3", folder).names == ("DescribeAdding", "it_adds")
    assert parse_target("tests/spec.py:6", folder).names == ("should_add",)
    with pytest.raises(UsageError, match="no test in"):
        parse_target("tests/spec.py:12", folder)


def test_a_file_that_does_not_parse_can_still_be_named(folder: Path) -> None:
    (folder / "tests/test_bad.py").write_text("def test_a(:\n")
    assert parse_target("tests/test_bad.py::test_a", folder).names == ("test_a",)
    with pytest.raises(UsageError, match="does not parse"):
        parse_target("tests/test_bad.py:1", folder)


def test_a_target_outside_the_workspace_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="not inside the workspace"):
        parse_target("tests/test_cart.py", folder).within(folder / "other")


def test_what_a_target_covers() -> None:
    whole = Target("tests/test_x.py", ("test_a",))
    assert whole.covers("tests/test_x.py::test_a")
    assert whole.covers("tests/test_x.py::test_a[1-b]")
    assert not whole.covers("tests/test_x.py::test_ab")
    assert not Target("tests/test_x.py", ("test_a",), "1").covers("tests/test_x.py::test_a[2]")
    assert Target("tests/test_x.py").covers("tests/test_x.py::TestA::test_b")


def test_node_ids_split_and_join_again() -> None:
    for nodeid in (
        "a/test_x.py::TestA::test_b[x::y]",
        "a/test_x.py",
        "test_x.py::test_a[[]]",
        "test_x.py::test_a[]",
    ):
        assert Target.from_nodeid(nodeid).nodeid == nodeid
    assert split_nodeid("t.py::test_a[\\xe9 -5]") == ("t.py", ("test_a",), "\\xe9 -5")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tests/test_cart.py::", "for all failing tests of the file say tests/test_cart.py"),
        ("tests/test_cart.py::TestCart::", "lacks a name"),
        ("tests/test_cart.py::::test_a", "lacks a name"),
        ("tests/test_cart.py:: ", "lacks a name"),
        ("tests/test_cart.py::[a]", "lacks a name"),
        ("tests/test_cart.py::test_a[1", "lacks its last ']'"),
        ("tests::test_a", "is a folder"),
    ],
)
def test_a_half_written_name_is_not_the_whole_file(folder: Path, text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(text, folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ids_can_be_typed_as_they_read_or_as_pytest_writes_them(folder: Path) -> None:
    (folder / "tests/test_ids.py").write_text("def test_a(x):\n    pass\n")
    for typed in (
        "tests/test_ids.py::test_a[caf\u00e9 \U0001f60b]",
        "tests/test_ids.py::test_a[caf\\xe9 \\U0001f60b]",
    ):
        assert parse_target(typed, folder).param == "caf\\xe9 \\U0001f60b"
    assert Target("t.py", ("test_a",), "caf\\xe9").covers("t.py::test_a[caf\u00e9]")
    assert not Target("t.py", ("test_a",), "caf\\xe9").covers("t.py::test_a[cafe]")


def test_an_empty_id_is_that_one_case_and_no_id_is_all_of_them(folder: Path) -> None:
    (folder / "tests/test_ids.py").write_text("def test_a(x):\n    pass\n")
    one = parse_target("tests/test_ids.py::test_a[]", folder).within(folder)
    assert (one.param, one.nodeid) == ("", "tests/test_ids.py::test_a[]")
    assert one.covers("tests/test_ids.py::test_a[]")
    assert not one.covers("tests/test_ids.py::test_a[x]")
    assert not one.covers("tests/test_ids.py::test_a")
    every = parse_target("tests/test_ids.py::test_a", folder).within(folder)
    assert every.param is None
    assert every.covers("tests/test_ids.py::test_a[]")
    assert every.covers("tests/test_ids.py::test_a[x]")

"""What a failed `self.assert…` compared, as unittest itself reports it through pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.testing.small_projects import Bench

CALLS = {
    "assertEqual(1, 2)": ("1", "2"),
    "assertEqual('a', 'b')": ("'a'", "'b'"),
    "assertEqual({'a': 1}, {'a': 2})": ("{'a': 1}", "{'a': 2}"),
    "assertEqual([1], [2])": ("[1]", "[2]"),
    "assertNotEqual(1, 1)": ("1", "1"),
    "assertDictEqual({'a': 1}, {'b': 1})": ("{'a': 1}", "{'b': 1}"),
    "assertListEqual([1], [1, 2])": ("[1]", "[1, 2]"),
    "assertTupleEqual((1,), (2,))": ("(1,)", "(2,)"),
    "assertSetEqual({1}, {2})": ("{1}", "{2}"),
    "assertSequenceEqual([1], (2,))": ("[1]", "(2,)"),
    "assertCountEqual([1, 1], [1, 2])": ("[1, 1]", "[1, 2]"),
    "assertMultiLineEqual('a\\n', 'b\\n')": ("'a\\n'", "'b\\n'"),
    "assertIn(1, [2])": ("1", "[2]"),
    "assertNotIn(2, [2])": ("2", "[2]"),
    "assertIs([], None)": ("[]", "None"),
    "assertAlmostEqual(1.0, 1.2)": ("1.0", "1.2"),
    "assertAlmostEqual(1.0, 1.2, delta=0.1)": ("1.0", "1.2"),
    "assertNotAlmostEqual(1.0, 1.0)": ("1.0", "1.0"),
    "assertGreater(1, 2)": ("1", "2"),
    "assertLessEqual(3, 2)": ("3", "2"),
    "assertIsInstance(1, str)": ("1", "<class 'str'>"),
    "assertRegex('abc', '^b')": ("'abc'", "re.compile('^b')"),
    "assertEqual(first=1, second=2, msg='no')": ("1", "2"),
    "assertTrue(0)": ("0", "True"),
    "assertFalse([1])": ("[1]", "False"),
    "assertIsNone(3)": ("3", "None"),
    "assertIsNotNone(None)": (None, None),
    "assertRaises(ValueError, int, '1')": (None, None),
    "fail('no')": (None, None),
}


@pytest.mark.parametrize("kind", ["TestCase", "IsolatedAsyncioTestCase"])
async def test_each_method_tells_both_of_its_values(tmp_path: Path, kind: str) -> None:
    word = "async def" if kind.startswith("Isolated") else "def"
    methods = [f"    {word} test_{number}(self):\n        self.{call}\n" for number, call in enumerate(CALLS)]
    text = f"import unittest\n\n\nclass Values(unittest.{kind}):\n" + "\n".join(methods)
    bench = Bench(tmp_path, {"test_values.py": text})
    report = await bench.runner.run(bench.trial.prepare(), ["test_values.py"])
    found = {call: report.tests[f"test_values.py::Values::test_{n}"].failure for n, call in enumerate(CALLS)}
    told = {call: failure and (failure.left, failure.right) for call, failure in found.items()}
    assert told == CALLS

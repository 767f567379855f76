"""What a path means: which files the agent may change, which only when a person is asked, which never.

One object decides for the file tools, the writer and what a trial leaves out. It looks at names only, folded as
in `names.fold`, so that it holds for files that do not exist yet.
"""

from __future__ import annotations

import fnmatch
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from regreen.workspace.names import fold, split

Permission = Literal["allow", "ask", "locked", "refused"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What may be done with a path, and the rule in words ("" for allow)."""

    permission: Permission
    reason: str = ""


ALLOW = Ruling("allow")

# Run or believed by some program outside the seal, without anybody asking for it.
_PROTECTED_FOLDERS = {
    ".git": "the history of the project", ".hg": "the history of the project", ".svn": "the history of the project",
    ".vscode": "the editor's settings", ".idea": "the editor's settings", ".fleet": "the editor's settings",
    ".zed": "the editor's settings", ".vs": "the editor's settings", ".devcontainer": "the editor's settings",
    ".cursor": "an agent's settings", ".claude": "an agent's settings", ".codex": "an agent's settings",
    ".gemini": "an agent's settings", ".agents": "an agent's settings", ".continue": "an agent's settings",
    ".windsurf": "an agent's settings", ".roo": "an agent's settings", ".regreen": "an agent's settings",
    ".husky": "hooks that run by themselves", ".githooks": "hooks that run by themselves",
    ".direnv": "hooks that run by themselves",
    ".venv": "a virtual environment", "venv": "a virtual environment", ".conda": "a virtual environment",
    ".pixi": "a virtual environment", "site-packages": "installed packages", "node_modules": "installed packages",
    "__pypackages__": "installed packages", ".tox": "a virtual environment", ".nox": "a virtual environment",
    ".eggs": "installed packages", "__pycache__": "compiled code",
    ".ssh": "keys", ".gnupg": "keys", ".aws": "keys", ".azure": "keys", ".kube": "keys", ".docker": "keys",
    ".config": "settings of programs",
}  # fmt: skip
_PROTECTED_FILES = frozenset(
    (
        ".gitmodules", ".gitattributes", ".gitconfig", ".mcp.json", ".python-version", ".tool-versions",
        ".pre-commit-config.yaml", ".pre-commit-config.yml", "sitecustomize.py", "usercustomize.py", "pyvenv.cfg",
        ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".pdbrc", ".pythonrc", ".pythonrc.py",
        ".pythonstartup", ".inputrc", ".vimrc", ".nvimrc", ".exrc", ".nvim.lua", ".dir-locals.el", ".ripgreprc",
        "agents.md", "claude.md", "gemini.md", ".cursorrules", ".windsurfrules", ".aider.conf.yml", "head",
    )
)  # fmt: skip
_PROTECTED_FOLDERS_LIKE = ("sitecustomize", "usercustomize")
_PROTECTED_ENDS = (
    ".pth", ".egg-link", ".pyc", ".pyo", ".so", ".pyd", ".dylib", ".dll", ".exe", ".code-workspace",
    ".dist-info", ".egg-info",
)  # fmt: skip
_KEY_FOLDERS = frozenset((".ssh", ".gnupg", ".aws", ".azure", ".kube"))

_SECRET_FILES = frozenset(
    (
        ".netrc", "_netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass", ".htpasswd", ".dockercfg",
        "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials", "credentials.json", "secrets.toml",
        "secrets.yaml", "secrets.yml", "secrets.json", "service-account.json", ".envrc",
    )
)  # fmt: skip
_SECRET_ENDS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".env")
_EXAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")

# Changes what a later command of the person does, but only when they run it: shown and asked in every mode.
_ASK_FILES = frozenset(
    (
        "setup.py", "pyproject.toml", "setup.cfg", "noxfile.py", "makefile", "gnumakefile", "justfile", "taskfile.yml",
        "tasks.py", "dodo.py", "manage.py", "fabfile.py", "mypy.ini", ".mypy.ini", ".pylintrc", "pylintrc",
        "ruff.toml", ".ruff.toml", ".flake8", ".coveragerc", ".editorconfig", "dockerfile", "containerfile",
        "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "package.json",
        "package-lock.json", "pipfile", "pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock", "pixi.toml",
        "environment.yml", "hatch.toml", "manifest.in", ".gitignore", ".gitlab-ci.yml", ".travis.yml",
        "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", "buildspec.yml",
        "cloudbuild.yaml", "codecov.yml", ".codecov.yml", "tox.toml", "pyrightconfig.json", "cmakelists.txt",
        "meson.build", "build.py",
    )
)  # fmt: skip
_ASK_FOLDERS = frozenset(
    (".github", ".gitlab", ".circleci", ".azure-pipelines", ".buildkite", ".ci", ".woodpecker")
)
_ASK_PATTERNS = ("requirements*.txt", "requirements*.in", "constraints*.txt", "*.spec", "dockerfile.*")

_TEST_FOLDERS = frozenset(("tests", "test", "__snapshots__"))
_TEST_FILES = ("test_*.py", "*_test.py")
_SNAPSHOTS = ("*.snap", "*.ambr", "*.snapshot")
_TEST_CONFIG = frozenset(("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini"))
_MIXED_CONFIG = frozenset(("pyproject.toml", "setup.cfg"))
_RUNNER = frozenset(("pytest", "_pytest", "pluggy", "iniconfig", "exceptiongroup"))
_PYTEST_TABLE = re.compile(
    r"""^[ \t]*(?:\[[ \t]*(?:["']?tool["']?[ \t]*\.[ \t]*["']?pytest\b|tool:pytest\b|pytest\b)"""
    r"""|["']?tool["']?[ \t]*\.[ \t]*["']?pytest\b"""
    r"""|["']?pytest["']?[ \t]*(?:\.[ \t]*["']?|=[ \t]*\{[^\n]*)ini_options)""",
    re.MULTILINE,
)
_LOCKED_WORDS = "Change the code under test instead; if the test itself is wrong, say so."


class Policy:
    """The rules of one run. `patterns` are the project's own `python_files`, beside pytest's usual names."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self._patterns = (*_TEST_FILES, *(fold(pattern) for pattern in patterns))
        self._locked: set[str] = set()
        self.tests_unlocked = False

    def unlock_tests(self) -> None:
        """The person allowed changes to tests and test configuration for this run: they become `ask`."""
        self.tests_unlocked = True

    def lock(self, path: str) -> None:
        """Lock one more file (the target's own), whatever it is called."""
        self._locked.add(fold(path))

    def for_reading(self, path: str) -> Ruling:
        """Whether the model may see a file: everything but secrets. Raises PathRefused for an impossible path."""
        names = [fold(name) for name in split(path)]
        if self._secret(names):
            return Ruling("refused", f"it may hold secrets, which a model must not see: '{path}'")
        if ".git" in names[:-1] or names[-1] == ".git":
            return Ruling("refused", f"the history of the project is not for reading: '{path}'")
        return ALLOW

    def for_writing(self, path: str, contents: Iterable[str | bytes | None] = ()) -> Ruling:
        """Whether the agent may change or create a file. `contents` are what it holds now and what it would hold:
        they decide for files that are test configuration only when pytest's tables are in them.

        Raises PathRefused for an impossible path.
        """
        names = [fold(name) for name in split(path)]
        protected = self._protected(names)
        if protected:
            return Ruling("refused", f"protected, {protected}: '{path}'")
        if self._secret(names):
            return Ruling("refused", f"protected, it may hold secrets: '{path}'")
        locked = self._test(names, fold(path), contents)
        if locked and self.tests_unlocked:
            return Ruling("ask", f"{locked}, unlocked for this run: '{path}'")
        if locked:
            return Ruling("locked", f"locked, {locked}: '{path}'. {_LOCKED_WORDS}")
        if self._asked(names):
            return Ruling("ask", f"it changes how the project is built, checked or run: '{path}'")
        return ALLOW

    def is_secret(self, path: str) -> bool:
        """True for files that are left out of trials and listings as well. `path` need not be a legal one."""
        return self._secret([fold(name) for name in path.split("/")])

    def _protected(self, names: list[str]) -> str:
        for name in names:
            if name in _PROTECTED_FOLDERS:
                return _PROTECTED_FOLDERS[name]
            if name.endswith(_PROTECTED_ENDS):
                return "it is compiled or installed code"
            if name.split(".")[0] in _PROTECTED_FOLDERS_LIKE:
                return "Python runs it at every start"
        return "programs outside the tests run or believe it" if names[-1] in _PROTECTED_FILES else ""

    def _secret(self, names: list[str]) -> bool:
        if any(name in _KEY_FOLDERS for name in names):
            return True
        leaf = names[-1]
        if leaf.endswith(_EXAMPLES):
            return False
        return (
            leaf in _SECRET_FILES or leaf.startswith(".env.") or leaf == ".env" or leaf.endswith(_SECRET_ENDS)
        )

    def _test(self, names: list[str], path: str, contents: Iterable[str | bytes | None]) -> str:
        leaf = names[-1]
        if path in self._locked:
            return "it is the file of the test to be fixed"
        if leaf == "conftest.py" or any(name.split(".")[0] == "conftest" for name in names):
            return "it decides how tests run"
        if leaf in _TEST_CONFIG:
            return "it is test configuration"
        if names[1 if names[0] == "src" and len(names) > 1 else 0].split(".")[0] in _RUNNER:
            return "it would stand in for the test runner"
        if leaf in _MIXED_CONFIG and any(_has_pytest_table(content) for content in contents):
            return "it holds test configuration"
        if any(fnmatch.fnmatchcase(leaf, pattern) for pattern in self._patterns):
            return "it is a test file"
        if any(name in _TEST_FOLDERS for name in names[:-1]):
            return "it belongs to the tests"
        if any(fnmatch.fnmatchcase(leaf, pattern) for pattern in _SNAPSHOTS):
            return "it holds results that tests compare with"
        return ""

    def _asked(self, names: list[str]) -> bool:
        leaf = names[-1]
        return (
            leaf in _ASK_FILES
            or any(name in _ASK_FOLDERS for name in names[:-1])
            or any(fnmatch.fnmatchcase(leaf, pattern) for pattern in _ASK_PATTERNS)
        )


def _has_pytest_table(content: str | bytes | None) -> bool:
    """True when a pyproject.toml or setup.cfg holds a table for pytest; in doubt, true."""
    if content is None:
        return False
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    if _PYTEST_TABLE.search(text.replace("\r\n", "\n").replace("\r", "\n")):
        return True
    if sys.version_info < (3, 11):
        return False
    import tomllib  # Keys may be written in ways that only a parser sees through.

    try:
        return "pytest" in tomllib.loads(text).get("tool", {})
    except (ValueError, TypeError):
        return False


def python_files(config: str) -> list[str]:
    """The values of `python_files` in a pytest configuration of any of its forms; [] when it says nothing."""
    found = re.search(
        r"^[ \t]*python_files[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*(?:\n[ \t]+[^\n]+)*)", config, re.MULTILINE
    )
    if not found:
        return []
    words = re.sub(r"#[^\n]*", "", found[1])
    return re.findall(r"[^\s\[\],'\"]+", words)

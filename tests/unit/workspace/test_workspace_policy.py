"""Which files the agent may change, which are locked, which need a person, which it may not even see."""

from __future__ import annotations

import pytest

from regreen.workspace.names import PathRefused
from regreen.workspace.policy import Policy, python_files

WRITING = {
    "allow": [
        "cart.py", "src/shop/cart.py", "docs/index.md", "data/prices.csv", "testing/runner.py", "contest.py",
        "src/attest.py", "latest/x.py", "shop/environment.py", "keys.py", "credentials.py", "head.py", "env.py", "my.envs",
        ".environment.py", "shop/secrets.py", "envs/x.py", "local/x.py", "cargo/x.py", "examples/id.py", "rules.py",
    ],
    "locked": [
        "tests/test_cart.py", "test_cart.py", "src/cart_test.py", "src/test_cart.py", "TESTS/Test_Cart.PY",
        "tests/helpers.py", "tests/data/cart.json", "test/helper.py", "conftest.py", "src/conftest.py", "src/conftest/__init__.py",
        "CONFTEST.py", "pytest.ini", ".pytest.ini", "tox.ini", "tests/__snapshots__/x.ambr", "src/__snapshots__/a.txt",
        "shop/tests.py", "a.snap", "pytest.py", "_pytest/main.py", "src/pytest/__init__.py", "pluggy.py", "ｃonftest.py",
    ],
    "ask": [
        "setup.py", "Makefile", ".github/workflows/ci.yml", "requirements.txt", "requirements-dev.txt", "mypy.ini", ".pylintrc",
        "package.json", "eslint.config.mjs", ".eslintrc.js", "web/vite.config.ts", "build.rs", "Build.gradle.kts",
        "Dockerfile", "noxfile.py", "pyproject.toml", "setup.cfg", "sub/pyproject.toml", ".gitlab-ci.yml",
        "DOCKERFILE", ".ci/run", ".gitignore", ".drone.yml", ".forgejo/workflows/x.yml", "Procfile", "rules.mk",
        "docker-compose.prod.yml", "flake.nix", ".readthedocs.yaml", "pnpm-lock.yaml", ".run/shop.run.xml", "gunicorn.conf.py",
    ],
    "refused": [
        ".git/hooks/pre-commit", ".git/config", ".GIT/config", "sub/.git/config", ".vscode/settings.json", ".vscode/tasks.json",
        ".idea/x.xml", ".cursor/mcp.json", ".claude/settings.json", ".devcontainer/devcontainer.json", ".envrc", ".mcp.json",
        ".husky/pre-commit", "shop.code-workspace", ".venv/lib/x.py", "venv/bin/python", "a.pth", "lib/site-packages/x.py",
        "__pycache__/m.cpython-311.pyc", "m.pyc", "sitecustomize.py", "src/usercustomize.py", "sitecustomize/__init__.py",
        ".env", ".env.local", "prod.env", "id_rsa", "server.pem", "tls.key", ".netrc", ".pypirc", ".npmrc", ".git-credentials",
        "node_modules/x/index.js", ".pre-commit-config.yaml", ".python-version", "ext.so", "pkg.egg-info/x", "pyvenv.cfg",
        ".gitmodules", ".gitattributes", "AGENTS.md", "CLAUDE.md", ".bashrc", "d/HEAD", ".ssh/config", ".aws/credentials",
        ".env/bin/activate", ".cargo/config.toml", ".mise.toml", "lefthook.yml", ".clinerules", ".kiro/steering/x.md",
        ".junie/guidelines.md", ".opencode/x", "opencode.json", ".vimrc.local", ".emacs.d/init.el", "shop.sublime-project",
        ".hooks/pre-commit", ".yarnrc.yml", ".zshenv", ".helix/config.toml", "mcp.json", ".jj/x", ".local/bin/x",
        ".env-prod", ".env_local", "id_rsa_work", "terraform.tfvars", ".docker/config.json", "kubeconfig", "a.p8",
        ".config/x", ".gıt/config", "．git/config", ".tox/x", ".direnv/x", ".zed/settings.json", ".nvim.lua",
        ".ropeproject/config.py", ".jedi/project.json", ".neoconf.json", ".nlsp-settings/pyright.json", ".ycm_extra_conf.py",
        ".Rprofile", ".mvn/extensions.xml", "coc-settings.json", ".nova/Tasks/x.json", ".rvmrc",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("permission", "path"), [(p, path) for p, paths in WRITING.items() for path in paths]
)
def test_writing(permission: str, path: str):
    ruling = Policy().for_writing(path)
    assert ruling.permission == permission, ruling
    assert bool(ruling.reason) == (permission != "allow")
    if permission != "allow":
        assert path in ruling.reason


@pytest.mark.parametrize(
    "path",
    [".env", ".env.production", "a/.ENV", "id_rsa", "x/server.pem", "tls.key", ".netrc", ".aws/config", ".ssh/known_hosts",
     ".git/config", "secrets.toml", "store.p12", "prod.env", ".env-staging", ".ENVRC", "id_ed25519_sk", "id_rsa.bak",
     ".docker/config.json", "x/credentials.toml", "AuthKey_X.p8", "infra/terraform.tfstate", "client_secret.json",
     "ｉd_rsa", ".my.cnf", "vpn.ovpn"],
)  # fmt: skip
def test_secrets_cannot_be_read(path: str):
    ruling = Policy().for_reading(path)
    assert ruling.permission == "refused"
    assert path in ruling.reason


@pytest.mark.parametrize(
    "path", ["tests/test_cart.py", "conftest.py", "pyproject.toml", ".env.example", ".env-sample", "example.env", "id_rsa.pub", ".docker/Dockerfile", ".github/workflows/ci.yml", "Makefile"]
)  # fmt: skip
def test_tests_and_configuration_can_be_read(path: str):
    assert Policy().for_reading(path).permission == "allow"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("pyproject.toml", "[project]\nname='x'\n[tool.pytest.ini_options]\naddopts='-q'\n"),
        ("pyproject.toml", "[ tool . pytest . ini_options ]\n"),
        ("pyproject.toml", '["tool"."pytest".ini_options]\n'),
        ("pyproject.toml", "[tool]\npytest.ini_options = {addopts = '-q'}\n"),
        ("pyproject.toml", "[tool]\npytest = {ini_options = {addopts = '-q'}}\n"),
        ("pyproject.toml", "tool.pytest.ini_options.addopts = '-q'\n"),
        ("pyproject.toml", "[tool.pytest]\naddopts = ['-q']\n"),
        ("pyproject.toml", "x=1\r\n[tool.pytest.ini_options]\r\n"),
        ("setup.cfg", "[metadata]\nname=x\n[tool:pytest]\naddopts=-q\n"),
        ("setup.cfg", "[pytest]\naddopts=-q\n"),
    ],
)
def test_configuration_with_a_table_for_pytest_is_locked(path: str, content: str):
    assert Policy().for_writing(path, [content]).permission == "locked"
    assert Policy().for_writing(path, [None, content.encode()]).permission == "locked"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("pyproject.toml", "[project]\ndependencies = [\n  'pytest==8.0',\n  \"pytest >= 8\",\n]\n"),
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
        ("setup.cfg", "[options.extras_require]\ntest =\n    pytest==8\n    pytest\n"),
    ],
)
def test_configuration_that_only_names_pytest_is_asked_about(path: str, content: str):
    assert Policy().for_writing(path, [content]).permission == "ask"


def test_unlocking_opens_tests_to_asking_and_nothing_else():
    policy = Policy()
    policy.unlock_tests()
    assert policy.for_writing("tests/test_cart.py").permission == "ask"
    assert policy.for_writing("conftest.py").permission == "ask"
    assert policy.for_writing(".git/config").permission == "refused"
    assert policy.for_writing("cart.py").permission == "allow"


def test_the_targets_own_file_is_locked_whatever_its_name():
    policy = Policy()
    assert policy.for_writing("src/checks.py").permission == "allow"
    policy.lock("src/checks.py")
    assert policy.for_writing("src/checks.py").permission == "locked"
    assert policy.for_writing("SRC/Checks.py").permission == "locked"


def test_the_projects_own_names_for_tests_are_locked():
    policy = Policy(["check_*.py"])
    assert policy.for_writing("src/check_cart.py").permission == "locked"
    assert policy.for_writing("src/test_cart.py").permission == "locked"
    assert policy.for_writing("src/checked.py").permission == "allow"


@pytest.mark.parametrize(
    ("config", "patterns"),
    [
        ("[pytest]\npython_files = check_*.py spec_*.py\n", ["check_*.py", "spec_*.py"]),
        ("[pytest]\npython_files =\n    check_*.py\n    spec_*.py  # ours\naddopts = -q\n", ["check_*.py", "spec_*.py"]),
        ("[tool.pytest.ini_options]\npython_files = ['check_*.py', \"spec_*.py\"]\n", ["check_*.py", "spec_*.py"]),
        ("[tool.pytest.ini_options]\npython_files = [\n  'check_*.py',\n]\ntestpaths = ['x']\n", ["check_*.py"]),
        ("[tool.pytest.ini_options]\naddopts = '-q'\n", []),
    ],
)  # fmt: skip
def test_the_projects_own_names_are_read_from_its_configuration(config: str, patterns: list[str]):
    assert python_files(config) == patterns


def test_an_impossible_path_is_refused():
    with pytest.raises(PathRefused):
        Policy().for_writing("../x")
    with pytest.raises(PathRefused):
        Policy().for_reading("/etc/passwd")


def test_secrets_are_told_apart_for_trials_too():
    policy = Policy()
    assert policy.is_secret(".env")
    assert policy.is_secret("deep/id_ed25519")
    assert not policy.is_secret(".env.example")
    assert not policy.is_secret("cart.py")


CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PRIVATE = b"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("left_out", "path", "content"),
    [
        (True, ".env", b""),
        (True, "tests/.env", b""),
        (True, "tests/data/id_rsa", b""),
        (True, "a/.ENV.Production", b""),
        (True, "server.pem", PRIVATE),
        (True, "server.pem", b"hush"),
        (True, "server.pem", CERTIFICATE + PRIVATE),
        (True, "tls.key", PRIVATE),
        (True, "store.p12", b""),
        (True, "secrets.toml", b""),
        (True, ".aws/credentials", b""),
        (False, "src/shop/cacert.pem", CERTIFICATE),
        (False, "licence.key", b"-----BEGIN PUBLIC KEY-----\nMIIB\n"),
        (False, "tests/certs/server.pem", PRIVATE),
        (False, "tests/data/store.p12", b""),
        (False, "tests/fixtures/secrets.yaml", b""),
        (False, ".env.example", b""),
        (False, "cart.py", b""),
    ],
)
def test_trials_hold_no_secrets_but_what_tests_need(left_out: bool, path: str, content: bytes):
    assert Policy().left_out_of_trials(path, lambda: content) == left_out

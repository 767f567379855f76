"""The names that mean something: keys, settings of editors and agents, hooks, build and CI files. All folded.

Only data, read by `policy`, which says what follows from a name.
"""

from __future__ import annotations

# Run or believed by some program outside the seal, without anybody asking for it.
_SETTINGS = {
    "the history of the project": (".git", ".hg", ".svn", ".jj", ".bzr"),
    "the editor's settings": (
        ".vscode", ".vscode-test", ".idea", ".fleet", ".zed", ".vs", ".devcontainer", ".theia", ".settings", ".vim",
        ".nvim", ".helix", ".emacs.d", ".kakoune", ".jupyter", ".ipython", ".code-server", ".ropeproject", ".jedi",
        ".spyproject", ".nlsp-settings", ".nova", ".lapce", ".atom", ".pulsar", ".sublime",
    ),
    "an agent's settings": (
        ".cursor", ".claude", ".codex", ".gemini", ".agents", ".agent", ".continue", ".windsurf", ".roo", ".cline",
        ".clinerules", ".kilocode", ".kiro", ".junie", ".amazonq", ".trae", ".augment", ".goose", ".opencode",
        ".qwen", ".copilot", ".openhands", ".factory", ".aider", ".mcp", ".crush", ".tabnine", ".regreen",
    ),
    "hooks that run by themselves": (
        ".husky", ".githooks", ".hooks", ".git-hooks", ".direnv", ".lefthook", ".overcommit", ".mise", ".asdf", ".rtx",
        ".yarn", ".cargo", ".mvn", ".bundle",
    ),
    "a virtual environment": (".venv", "venv", ".env", ".conda", ".pixi", ".virtualenv", ".tox", ".nox"),
    "installed packages": ("site-packages", "dist-packages", "node_modules", "__pypackages__", ".eggs"),
    "compiled code": ("__pycache__",),
    "keys": (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".password-store"),
    "settings of programs": (".config", ".local"),
}  # fmt: skip
PROTECTED_FOLDERS = {name: what for what, names in _SETTINGS.items() for name in names}
PROTECTED_FILES = frozenset(
    (
        ".gitmodules", ".gitattributes", ".gitconfig", ".lfsconfig", ".mcp.json", "mcp.json", ".python-version",
        ".tool-versions", ".mise.toml", "mise.toml", ".rtx.toml", ".autoenv", ".autoenv.zsh", ".pre-commit-config.yaml",
        ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml",
        ".lefthook.yaml", "lefthook-local.yml", ".overcommit.yml", ".huskyrc", ".huskyrc.json", ".lintstagedrc",
        ".watchmanconfig", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "sitecustomize.py", "usercustomize.py", "pyvenv.cfg",
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".zshrc", ".zshenv", ".zprofile",
        ".zlogin", ".profile", ".login", ".cshrc", ".kshrc", ".pdbrc", ".pythonrc", ".pythonrc.py", ".pythonstartup",
        ".inputrc", ".vimrc", ".vimrc.local", ".local.vimrc", ".lvimrc", ".gvimrc", ".nvimrc", ".exrc", ".nvim.lua",
        ".kakrc", ".emacs", ".dir-locals.el", ".dir-locals-2.el", ".ripgreprc", ".wgetrc", ".curlrc", ".gdbinit", ".lldbinit",
        ".tmux.conf", ".screenrc", ".gdbearlyinit", ".neoconf.json", ".ycm_extra_conf.py", "coc-settings.json",
        ".projections.json", ".sublimelinterrc", ".localrc", ".rvmrc", ".rprofile", ".renviron", ".octaverc", ".ghci",
        ".ocamlinit", ".iex.exs", ".pryrc", "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md",
        "gemini.md", "qwen.md", "warp.md", ".cursorrules", ".cursorignore", ".windsurfrules", ".clinerules", ".roorules",
        ".goosehints", ".rules", ".aider.conf.yml", ".aiderignore", "opencode.json", "opencode.jsonc", "head",
    )
)  # fmt: skip
PROTECTED_FOLDERS_LIKE = ("sitecustomize", "usercustomize")
PROTECTED_ENDS = (
    ".pth", ".egg-link", ".pyc", ".pyo", ".so", ".pyd", ".dylib", ".dll", ".exe", ".code-workspace",
    ".sublime-project", ".sublime-workspace", ".dist-info", ".egg-info",
)  # fmt: skip

KEY_FOLDERS = frozenset((".ssh", ".gnupg", ".aws", ".azure", ".kube", ".gcloud", ".password-store"))
SECRET_FILES = frozenset(
    (
        ".netrc", "_netrc", ".pypirc", ".npmrc", ".yarnrc.yml", ".git-credentials", ".pgpass", "pgpass.conf", ".my.cnf",
        ".mylogin.cnf", ".htpasswd", ".dockercfg", ".dockerconfigjson", ".s3cfg", ".boto", ".databrickscfg",
        ".vault-token", ".vault_pass", ".vault-pass", ".terraformrc", "terraform.rc", "terraform.tfvars",
        "credentials", "credentials.json", "credentials.toml", "credentials.yml", "credentials.yaml",
        "credentials.yml.enc", "application_default_credentials.json", "client_secret.json", "client_secrets.json",
        "secrets.toml", "secrets.yaml", "secrets.yml", "secrets.json", "secrets.env", "service-account.json",
        "service_account.json", "serviceaccount.json", "kubeconfig", "master.key", "wp-config.php",
    )
)  # fmt: skip
SECRET_BEGINNINGS = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss")
SECRET_ENDS = (
    ".pem", ".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".env", ".ovpn", ".tfstate",
    ".auto.tfvars", ".agekey", ".keytab", ".mobileprovision",
)  # fmt: skip
CERTIFICATES = (".pem", ".key")

# Changes what a later command of the person does, but only when they run it: shown and asked in every mode.
ASK_FILES = frozenset(
    (
        "setup.py", "pyproject.toml", "setup.cfg", "noxfile.py", "makefile", "gnumakefile", "justfile", ".justfile",
        "taskfile.yml", "taskfile.yaml", "tasks.py", "dodo.py", "manage.py", "fabfile.py", "mypy.ini", ".mypy.ini",
        ".pylintrc", "pylintrc", "ruff.toml", ".ruff.toml", ".flake8", ".coveragerc", ".editorconfig", "dockerfile",
        "containerfile", ".dockerignore", "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml",
        "docker-bake.hcl", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "pipfile", "pipfile.lock",
        "poetry.lock", "poetry.toml", "uv.lock", "uv.toml", "pdm.lock", "pdm.toml", "pixi.toml", "pixi.lock",
        "environment.yml", "environment.yaml", "conda-lock.yml", "hatch.toml", "manifest.in", ".gitignore",
        ".gitlab-ci.yml", ".travis.yml", ".cirrus.yml", ".drone.yml", ".woodpecker.yml", "appveyor.yml",
        ".appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile", "buildspec.yml",
        "cloudbuild.yaml", "cloudbuild.yml", "wercker.yml", "codecov.yml", ".codecov.yml", ".readthedocs.yml",
        ".readthedocs.yaml", "renovate.json", ".renovaterc", "netlify.toml", "vercel.json", "fly.toml", "procfile",
        "vagrantfile", "tiltfile", "skaffold.yaml", "tox.toml", "pyrightconfig.json", "cmakelists.txt", "meson.build",
        "build.py", "sconstruct", "sconscript", "wscript", "build.bazel", "module.bazel", ".bazelrc", "pants.toml", "buck",
        "conanfile.py", "flake.nix", "shell.nix", "default.nix", "devbox.json", "configure", "configure.ac",
        ".nvmrc", ".node-version", ".flaskenv", "versioneer.py", "hatch_build.py", "pyrefly.toml", "ty.toml",
        ".pyre_configuration", ".isort.cfg", ".style.yapf", ".importlinter", "tsconfig.json", "jsconfig.json", "deno.json",
        "deno.jsonc", "bunfig.toml", "cargo.toml", "build.rs", "gradlew", "gradlew.bat", "pom.xml", "rakefile", "gemfile",
        ".rspec", ".irbrc", ".rubocop.yml", ".solargraph.yml", "mix.exs", "cmakepresets.json", ".clangd", ".gitpod.yml",
        ".replit", ".luarc.json", ".luacheckrc", "gunicorn.conf.py", "ipython_config.py", "workspace", "workspace.bazel", "build", ".buckconfig",
    )
)  # fmt: skip
ASK_FOLDERS = frozenset(
    (
        ".github", ".gitlab", ".circleci", ".azure-pipelines", ".buildkite", ".ci", ".woodpecker", ".forgejo", ".gitea",
        ".semaphore", ".tekton", ".teamcity", ".drone", ".run",
    )
)  # fmt: skip
ASK_PATTERNS = (
    "requirements*.txt", "requirements*.in", "constraints*.txt", "*.spec", "dockerfile.*", "*.dockerfile", "makefile.*",
    "*.mk", "docker-compose.*.yml", "docker-compose.*.yaml",
    # Scripts that editors' extensions run as soon as a file of their language is opened.
    "*.config.js", "*.config.mjs", "*.config.cjs", "*.config.ts", "*.config.mts", "*.config.cts", ".eslintrc*", ".prettierrc*",
    ".stylelintrc*", ".babelrc*", "gulpfile.*", "gruntfile.*", "build.gradle*", "settings.gradle*",
)  # fmt: skip

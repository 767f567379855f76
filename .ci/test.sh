#!/usr/bin/env bash
# Every check and test of the project. What cannot run here is left out, and said at the end with the reason;
# with REGREEN_LEAVE_OUT=fail (continuous integration) a leave-out is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${REGREEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/regreen-tests}
left_out=$(mktemp)
trap 'rm -f "$left_out"' EXIT
mkdir -p "$cache"

step() { printf '\n== %s\n' "$*"; }
leave_out() {
  printf '%s\n' "$*" >> "$left_out"
  if [ "${REGREEN_LEAVE_OUT:-}" = fail ]; then
    printf 'Cannot leave this out here: %s\n' "$*" >&2
    exit 1
  fi
}

# Debian packages, when we may install them: a command that tells whether it is there, then the packages that bring it.
need() {
  local check=$1
  shift
  eval "$check" >/dev/null 2>&1 && return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    [ -n "${apt_updated:-}" ] || { apt-get update -qq >/dev/null; apt_updated=1; }
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1 || true
  fi
  eval "$check" >/dev/null 2>&1
}
eglot='emacs --batch --eval "(progn (require (quote package)) (package-initialize) (kill-emacs (if (locate-library \"eglot\") 0 1)))"'

step "Python environment"
.ci/venv.sh .venv requirements-dev.lock
python=.venv/bin/python

step "Lint and types (ruff, pyright)"
.venv/bin/ruff format --check .
.venv/bin/ruff check .
.venv/bin/pyright

need 'command -v bwrap' bubblewrap || leave_out "the bubblewrap seal: bwrap is not installed (apt install bubblewrap)"
need 'command -v nvim' neovim || leave_out "Debian's Neovim: nvim is not installed (apt install neovim)"
need "$eglot" emacs-nox elpa-eglot || leave_out "Emacs: no emacs with eglot (apt install emacs-nox elpa-eglot)"

vs_code=
if command -v npm >/dev/null 2>&1; then
  step "VS Code extension (tsc, eslint, bundle)"
  (cd vscode-extension && npm ci --silent --no-audit --no-fund && npm run --silent check && npm run --silent package)
  if need 'command -v chromium' chromium && REGREEN_CACHE=$cache tests/e2e/install_vscode.sh; then
    vs_code=yes
  else
    leave_out "VS Code: Chromium or code-server could not be installed"
  fi
else
  leave_out "the VS Code extension and VS Code itself: npm is not installed (Node 20 or newer)"
fi

export REGREEN_CACHE=$cache REGREEN_LEFT_OUT_FILE=$left_out
if [ "$vs_code" ]; then
  step "Tests in VS Code (pytest)"
  "$python" -m pytest tests/e2e
fi
# A file at a time to each core. VS Code comes before, alone: there, how soon something shows is looked at.
step "Tests (pytest)"
"$python" -m pytest -n auto --maxprocesses 4 --dist loadfile --ignore=tests/e2e "$@"

#!/bin/sh
# Make a virtual environment from a lock file, and put the checkout's own package into it.
#   .ci/venv.sh FOLDER LOCK
# A lock is complete, so nothing beside it is installed.
# With uv when it is there, else with venv and pip. Does nothing when the environment is made from this lock already.
set -eu
folder=$1 lock=$2
here=$(cd "$(dirname "$0")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }

find_python() {
  for name in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do
    [ -n "$name" ] || continue
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then
      command -v "$name"
      return
    fi
  done
  say "No Python 3.10 or newer found. Install one, or name it: make PYTHON=/path/to/python3 …"
  exit 3
}

stamp="$folder/.made-from"
if [ -x "$folder/bin/python" ] && [ -f "$stamp" ] && cmp -s "$stamp" "$here/$lock"; then
  exit 0
fi

python=$(find_python)
say "Making $folder from $lock with $python"
if command -v uv >/dev/null 2>&1; then
  uv venv --quiet --clear --python "$python" "$folder"
  uv pip install --quiet --python "$folder/bin/python" --no-deps --require-hashes -r "$here/$lock"
else
  if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "This Python cannot make virtual environments: it lacks ensurepip."
    say "On Debian and Ubuntu: sudo apt install python$version-venv    Elsewhere: install uv, then run make again."
    exit 3
  fi
  "$python" -m venv --clear "$folder"
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$here/$lock"
fi
packages=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$here/server" > "$packages/regreen-checkout.pth"
printf '#!/bin/sh\nexec "%s" -m regreen "$@"\n' "$(cd "$folder" && pwd)/bin/python" > "$folder/bin/regreen"
chmod +x "$folder/bin/regreen"
cp "$here/$lock" "$stamp"

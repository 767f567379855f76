#!/usr/bin/env bash
# Writes the three lock files anew, with the versions of the project's own lock where it has them.
set -euo pipefail
cd "$(dirname "$0")"
compile() { # name, then more options
  local name="$1"
  shift
  uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header --no-annotate \
    --no-emit-index-url --constraint ../../requirements-dev.lock "$@" "$name.in" --output-file "$name.lock"
}
# One version for all Pythons: what is bundled must be the version that still runs on 3.10, without markers.
uv pip compile --quiet --python-version 3.10 --no-deps --generate-hashes --no-header --no-annotate --no-emit-index-url \
  --constraint ../../requirements-dev.lock libs.in --output-file libs.lock
uv pip compile --quiet --python-version 3.10 --no-deps --generate-hashes --no-header --no-annotate --no-emit-index-url \
  --constraint ../../requirements-dev.lock pure.in --output-file pure.lock
compile run

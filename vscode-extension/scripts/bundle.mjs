// Fills bundled/ with what the VSIX carries besides the TypeScript part:
//
//   bundled/server/regreen/        the Python package of this repository
//   bundled/libs/                  pygls and what it needs: only `regreen serve` puts it on sys.path
//   bundled/pure/                  what every command needs
//   bundled/requirements-run.lock  what a run with a model needs, fetched on first use
//
// `python -I bundled/server/regreen/__main__.py COMMAND` finds these folders by itself: server/regreen/__main__.py adds
// its parent's parent folder's `pure`, and `libs` for `serve`. Libraries are pinned by hash and must be pure Python,
// so that one VSIX serves all platforms and all Pythons from 3.10 on.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const bundled = join(root, "bundled");
const licences = [];
// Parts of the libraries that the server never imports: other serialisers, the client side, stubs.
const UNUSED = ["cattr", "cattrs/preconf", "pygls/client.py", "pygls/lsp/client.py", "pygls/lsp/_base_client.py"];

function works(command, ...args) {
  const done = spawnSync(command, args, { stdio: "ignore" });
  return done.status === 0;
}

function installer() {
  if (works("uv", "--version")) return ["uv", "pip", "install"];
  for (const python of [process.env.PYTHON, "python3", "python"]) {
    if (python && works(python, "-m", "pip", "--version")) return [python, "-m", "pip", "install", "--disable-pip-version-check"];
  }
  console.error("bundle: neither uv nor a Python with pip was found; install one of them (Debian: apt-get install python3-pip)");
  process.exit(1);
}

/** Installs a lock file into a folder and keeps only the importable part. */
function install([command, ...args], lock, folder) {
  const target = join(bundled, folder);
  const pins = ["--target", target, "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", join(root, "requirements", lock)];
  const done = spawnSync(command, [...args, ...pins], { encoding: "utf8" });
  if (done.status !== 0) {
    console.error(done.stdout + done.stderr);
    console.error(`bundle: could not install ${lock}; see the lines above`);
    process.exit(1);
  }
  for (const name of readdirSync(target)) {
    if (name.endsWith(".dist-info")) keepLicence(join(target, name), name.replace(".dist-info", ""));
    const foreign = name.endsWith(".dist-info") || name === "bin" || name === "__pycache__" || name.startsWith(".");
    if (foreign) rmSync(join(target, name), { recursive: true });
  }
  for (const path of UNUSED) rmSync(join(target, path), { recursive: true, force: true });
  for (const path of readdirSync(target, { recursive: true })) {
    if (path.endsWith(".pyi") || path.endsWith("py.typed")) rmSync(join(target, path));
  }
  const native = readdirSync(target, { recursive: true }).filter((name) => /\.(so|pyd|dylib)$/.test(name));
  if (native.length > 0) {
    console.error(`bundle: ${native.join(", ")} is native; only pure Python can be bundled`);
    process.exit(1);
  }
}

/** Everything is shipped without its docstrings, the server too: a fifth of the VSIX. Lines keep their numbers. */
function stripDocstrings() {
  const script = join(root, "scripts", "strip_docstrings.py");
  const folders = ["server", "libs", "pure"].map((folder) => join(bundled, folder));
  const pythons = [process.env.PYTHON, "python3", "python"].filter(Boolean).map((python) => [python]);
  for (const [command, ...args] of [...pythons, ["uv", "run", "--no-project", "python"]]) {
    if (!works(command, ...args, "--version")) continue;
    const done = spawnSync(command, [...args, script, ...folders], { encoding: "utf8" });
    if (done.status === 0) return;
    console.error(done.stdout + done.stderr);
    process.exit(1);
  }
  console.error("bundle: no Python was found to take the docstrings out; install Python 3");
  process.exit(1);
}

function keepLicence(info, name) {
  for (const file of readdirSync(info, { recursive: true })) {
    if (/licen[cs]e|notice/i.test(file) && /(\.txt|\.md|\.rst|licen[cs]e|notice)$/i.test(file) && existsSync(join(info, file))) {
      licences.push(`${"=".repeat(100)}\n${name}\n${"=".repeat(100)}\n${readFileSync(join(info, file), "utf8")}\n`);
    }
  }
}

rmSync(bundled, { recursive: true, force: true });
mkdirSync(join(bundled, "server"), { recursive: true });
const source = join(root, "..", "server", "regreen");
cpSync(source, join(bundled, "server", "regreen"), {
  recursive: true,
  filter: (path) => !/__pycache__|\.py[cod]$/.test(path),
});
const pip = installer();
install(pip, "libs.lock", "libs");
install(pip, "pure.lock", "pure");
stripDocstrings();
licences.unshift("The libraries in libs/ and pure/ are those of their authors, shipped without their docstrings; nothing else was changed.\n");
cpSync(join(root, "requirements", "run.lock"), join(bundled, "requirements-run.lock"));
writeFileSync(join(bundled, "THIRD-PARTY-LICENSES.txt"), licences.join("\n"));
cpSync(join(root, "..", "LICENSE"), join(root, "LICENSE"));
console.log(`bundle: ${readdirSync(bundled, { recursive: true }).length} files and folders in bundled/`);

// Bundles the extension into dist/extension.js; with --tests, bundles the unit tests into out/test/ and runs them.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const common = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning", absWorkingDir: root };

if (process.argv.includes("--tests")) {
  rmSync(join(root, "out"), { recursive: true, force: true });
  const tests = readdirSync(join(root, "test")).filter((name) => name.endsWith(".test.ts"));
  await build({ ...common, entryPoints: tests.map((name) => `test/${name}`), outdir: "out/test", external: ["vscode"] });
  // Each file by name: Node 20 knows no patterns here, Node 22 no folders.
  const files = tests.map((name) => join(root, "out", "test", name.replace(/\.ts$/, ".js")));
  process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
} else {
  await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: process.argv.includes("--minify"),
    sourcemap: false,
  });
}

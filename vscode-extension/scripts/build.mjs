// Bundles the extension into dist/extension.js; with --tests, the unit tests into out/test/.
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

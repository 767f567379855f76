"""`make tour`: the loop itself, over the wire, with a scripted model. Not a real model: its lines are written down.

Six scenes, each on a fresh copy of toy_repo. The exit code is 0 when every scene ended as it should.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(PROJECT / "tests"))

from scripted.server import ScriptedServer  # noqa: E402

TWO_PART = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
HARD = "tests/test_receipts.py::test_a_receipt_shows_discount_and_tax_by_rate"
PORT = 11500
OWN_SERVER = f"http://127.0.0.1:{PORT}"
HEAD = f"""\
The model in this tour is scripted: it plays lines that were written down, over Ollama's own wire.

It is there for one scene, and so is the copy of the toy shop: afterwards, neither can be reached. To type a scene's
command yourself, start such a model with the scene's policy in a second terminal, and go to a copy of your own:
  cd {shlex.quote(str(PROJECT / "tests"))} && {shlex.quote(sys.executable)} -m scripted --port {PORT} --policy twopart
  cp -r {shlex.quote(str(PROJECT / "toy_repo"))} /tmp/shop && cd /tmp/shop
`regreen` is {shlex.quote(str(Path(sys.executable).with_name("regreen")))}."""


@dataclass(frozen=True)
class Scene:
    """What is shown, and what must come of it. `typed` is what the person answers on the keyboard.

    The loop is shown with the quick search off: with it, small bugs like these hardly need a model.
    """

    title: str
    policy: str
    options: tuple[str, ...]
    exit_code: int
    target: str = TWO_PART
    typed: str = ""
    changes: bool = False
    search: str = "off"


SCENES = (
    Scene(
        "Wrong on the first try, reads the failure, right on the second; then the second part of the bug",
        "twopart",
        ("--approval", "whenGreen"),
        0,
        typed="y\n",
        changes=True,
    ),
    Scene(
        "A weak model on a hard task: another wrong edit each time, until the budget ends it",
        "fumbles",
        ("--approval", "never", "--max-steps", "4"),
        1,
        target=HARD,
    ),
    Scene(
        "It tries to write outside the folder, then into the test: refused each time",
        "escape",
        ("--approval", "never"),
        1,
    ),
    Scene(
        "Approval on: every edit is asked for; the first is rejected with a reason",
        "twopart",
        ("--approval", "everyEdit"),
        0,
        typed="r keeps only one of the two quantities\ny\ny\n",
        changes=True,
    ),
    Scene(
        "Approval off: nothing is asked, and only a verified fix is written",
        "direct",
        ("--approval", "never"),
        0,
        changes=True,
    ),
    Scene(
        "The quick search on, as it is by default: it finds an edit that passes and is not sure, so the model is asked",
        "chooser",
        ("--approval", "whenGreen", "--search-grace", "60"),
        0,
        typed="y\n",
        changes=True,
        search="on",
    ),
)


def play(scene: Scene, folder: Path) -> bool:
    """Play one scene; True when it ended as it should."""
    shop = folder / "toy_shop"
    shutil.copytree(PROJECT / "toy_repo", shop, ignore=shutil.ignore_patterns("__pycache__"))
    server = ScriptedServer(scene.policy)
    command = [
        *("fix", scene.target, "--workspace", ".", "--model", "ollama:qwen2.5:3b", "--base-url", server.url),
        *("--seal", "prefer", "--search", scene.search, *scene.options),
    ]
    shown = shlex.join(command).replace(server.url, OWN_SERVER)
    print(
        f"\n{'=' * 100}\n{scene.title}\n{'=' * 100}\n[--policy {scene.policy}]\n$ regreen {shown}", flush=True
    )
    try:
        run = subprocess.run(
            [sys.executable, "-m", "regreen", *command], cwd=shop, input=scene.typed.encode()
        )
    finally:
        server.close()
    changed = subprocess.run(
        ["git", "diff", "--no-index", "--quiet", str(PROJECT / "toy_repo" / "shop"), str(shop / "shop")],
        stdin=subprocess.DEVNULL,
    ).returncode
    outside = [path.name for path in folder.iterdir() if path != shop]
    ended_well = run.returncode == scene.exit_code and bool(changed) == scene.changes and not outside
    print(
        f"\n[{'as it should' if ended_well else 'NOT AS IT SHOULD'}: exit code {run.returncode}, "
        f"files {'changed' if changed else 'unchanged'}, nothing outside the folder: {not outside}]",
        flush=True,
    )
    return ended_well


def main() -> int:
    """Play all scenes."""
    print(HEAD)
    results: list[bool] = []
    for scene in SCENES:
        with tempfile.TemporaryDirectory(prefix="regreen-tour-") as folder:
            results.append(play(scene, Path(folder)))
    print(f"\n{sum(results)} of {len(results)} scenes ended as they should.")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

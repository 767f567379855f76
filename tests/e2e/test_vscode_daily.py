"""What happens in a real VS Code around the main job: the Test Explorer, tasks in words, odd files, a reload."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from e2e.shop import (
    BROKEN,
    RIGHT,
    TARGET,
    Open,
    changed_files,
    open_the_test,
    passes,
    settings,
    shown,
    wait_for,
)
from e2e.workbench import Workbench, picture
from unit.testing.small_projects import NEEDS_A_VARIABLE, write_files

pytestmark = [pytest.mark.editor, pytest.mark.timeout(900)]

INHERITED = {
    **NEEDS_A_VARIABLE,
    "checks.py": """\
        from shop import total


        class Checks:
            def test_total(self):
                assert total([1, 2]) == 9
        """,
    "test_shop.py": "from checks import Checks\n\n\nclass TestShop(Checks):\n    pass\n",
}

TASK = "There's a bug in bug.py, find and fix it"


def asked_of_explorer(window: Workbench) -> list[Any]:
    """What the Test Explorer's controller was asked to run, in order."""
    found = window.server.data.rglob("requests.jsonl")
    return [json.loads(line) for path in found for line in path.read_text().splitlines()]


def fix_and_accept_all(window: Workbench) -> None:
    """Fixes the test at the cursor and accepts every proposal."""
    window.command("Regreen: Fix Failing Test")
    shown(window, window.status("Review: shop/"))
    expect(window.title_button("Accept Proposal")).to_be_visible()
    window.command("Regreen: Accept This Proposal and All to Come")
    shown(window, window.toast("Fixed: test_"))


def test_the_test_explorer_runs_a_fixed_test_again_and_only_that_one(
    explorer: tuple[Workbench, Locator], shop: Path
) -> None:
    window, row = explorer
    page = window.page
    expect(row.locator(".codicon-testing-failed-icon")).to_be_visible()

    open_the_test(window)
    window.command("Regreen: Fix Failing Test")
    ended = window.toast("Rejected: test_").or_(window.toast("Stuck: test_"))
    while True:
        expect(window.status("Review: shop/").or_(ended).first).to_be_visible(timeout=240_000)
        if ended.is_visible():
            break
        waiting = page.locator(".tab").filter(has_text="Regreen proposal").first
        expect(waiting).to_be_visible()
        window.command("Regreen: Reject Proposal")
        expect(window.status("Review: shop/")).to_have_count(0)
    assert changed_files(shop) == []
    assert asked_of_explorer(window) == [], "nothing was accepted"

    window.command("Notifications: Clear All Notifications")
    open_the_test(window)
    fix_and_accept_all(window)
    wait_for(lambda: len(asked_of_explorer(window)) == 1, "the Test Explorer is asked once")
    expect(row.locator(".codicon-testing-passed-icon")).to_be_visible()
    assert asked_of_explorer(window) == [{"wanted": [f"{shop}/{TARGET}"], "continuous": False}]
    assert page.evaluate("document.activeElement.closest('.editor-instance') !== null"), "focus stays"
    assert passes(shop)


def test_a_task_in_words_ends_with_its_evidence_and_a_page_of_the_whole_run(
    open_window: Open, tmp_path: Path, bare_python: Path, scripted: Callable[..., Any]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "bug.py").write_text("def mean(values):\n    return sum(values) / 2\n")
    model = scripted("explorer")
    own = Path(sys.executable).with_name("regreen")
    chosen = settings(bare_python, model="ollama:qwen2.5:3b", ollamaHost=model.url, commandPath=str(own))
    window = open_window(folder, chosen)
    page = window.page
    window.open("bug.py", 1)
    window.status("every edit").wait_for()
    expect(page.locator(".statusbar-item").filter(has_text="Python").first).to_be_visible()

    window.command("Regreen: Describe a Task…")
    box = page.locator(".quick-input-widget input").first
    box.fill(TASK)
    page.locator(".quick-input-list .monaco-list-row").filter(has_text=TASK).first.wait_for()
    page.keyboard.press("Enter")
    shown(window, window.status("Review: bug.py"))
    expect(window.title_button("Accept Proposal")).to_be_visible()
    assert "/ 2" in (folder / "bug.py").read_text()
    window.title_button("Accept Proposal").click()
    outcome = window.toast("Changed, but not verified")
    shown(window, outcome)
    expect(outcome).to_contain_text("3.0")
    expect(outcome.get_by_text("Write a Test…")).to_be_visible()
    assert "len(values)" in (folder / "bug.py").read_text()

    outcome.get_by_text("Show Run").click()
    shown_page = page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    expect(shown_page.locator("body")).to_contain_text("bug.py")
    assert "Content-Security-Policy" in shown_page.locator("head").inner_html()
    assert shown_page.locator("script").count() <= 1, "only VS Code's own"

    window.command("Notifications: Clear All Notifications")
    window.command("Regreen: Describe a Task…")
    earlier = page.locator(".quick-input-list .monaco-list-row").filter(has_text=TASK).first
    expect(earlier).to_contain_text("earlier")
    page.keyboard.press("Escape")


def test_windows_line_ends_a_byte_order_mark_and_what_saving_cleans_up_are_kept_apart(
    open_window: Open, shop: Path, bare_python: Path
) -> None:
    cart = shop / "shop" / "cart.py"
    odd = b"\xef\xbb\xbf" + cart.read_bytes().replace(b"\n", b"\r\n")
    cart.write_bytes(odd)
    discounts = shop / "shop" / "discounts.py"
    discounts.write_text(discounts.read_text() + "\n# a note with spaces behind it   \n")
    window = open_window(
        shop, {**settings(bare_python, model="builtin"), "files.trimTrailingWhitespace": True}
    )
    open_the_test(window)
    fix_and_accept_all(window)
    assert passes(shop)
    now = cart.read_bytes()
    assert now.replace(RIGHT.encode(), BROKEN.encode()) == odd, "no byte outside the change"
    assert discounts.read_text().endswith("# a note with spaces behind it\n"), "the person's own setting"


def test_a_file_that_is_gone_when_its_proposal_is_accepted_stays_gone(
    open_window: Open, shop: Path, bare_python: Path
) -> None:
    window = open_window(shop, settings(bare_python, model="builtin"))
    open_the_test(window)
    window.command("Regreen: Fix Failing Test")
    review = window.status("Review: shop/")
    shown(window, review)
    name = review.inner_text().split("shop/")[1].strip()
    expect(window.title_button("Accept Proposal")).to_be_visible()
    (shop / "shop" / name).unlink()
    window.title_button("Accept Proposal").click()
    expect(window.toast("nothing was written")).to_be_visible()
    assert not (shop / "shop" / name).exists()


def test_after_a_reload_the_old_proposal_is_gone_and_the_run_can_go_on(
    open_window: Open, shop: Path, bare_python: Path
) -> None:
    window = open_window(shop, settings(bare_python, model="builtin"))
    page = window.page
    open_the_test(window)
    window.command("Regreen: Fix Failing Test")
    shown(window, window.status("Review: shop/"))
    expect(window.title_button("Accept Proposal")).to_be_visible()

    page.reload()
    page.wait_for_selector(".monaco-workbench .part.editor")
    told = window.toast("Regreen was working on test_adding_more")
    expect(told).to_be_visible()
    expect(page.locator(".tab").filter(has_text="Regreen proposal")).to_have_count(0)
    assert changed_files(shop) == []
    told.get_by_text("Go On").click()
    shown(window, window.status("Review: shop/"))
    expect(window.title_button("Accept Proposal")).to_be_visible()
    window.command("Regreen: Accept This Proposal and All to Come")
    shown(window, window.toast("Fixed: test_"))
    assert passes(shop)


def test_an_inherited_test_that_needs_a_variable_is_fixed_once_the_person_allows_it(
    open_window: Open, tmp_path: Path, bare_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_RATE", "3")
    folder = write_files(tmp_path / "rates", INHERITED)
    window = open_window(folder, settings(bare_python, model="builtin"))
    window.open("test_shop.py", 4)
    inherited = window.page.locator(".action-widget").get_by_text("Fix failing test: test_total")

    def offered() -> bool:
        window.page.keyboard.press("Escape")
        window.page.keyboard.press("Control+.")
        window.page.wait_for_timeout(1000)
        return inherited.is_visible()

    wait_for(offered, "pytest, asked in the background, told of the test that only it knows")
    inherited.click()

    question = window.toast("the environment variable SHOP_RATE, which sealed runs do not get")
    shown(window, question)
    picture(window.page, "vscode-permission")
    question.get_by_role("button", name="Allow it for this run").click()
    shown(window, window.status("Review: shop.py"))
    assert "result -=" in (folder / "shop.py").read_text()
    window.title_button("Accept Proposal").click()
    shown(window, window.toast("Fixed: test_total"))
    assert "result += price" in (folder / "shop.py").read_text()
    assert "see the environment variable SHOP_RATE" in window.server.extension_log()

"""The main job in a real VS Code: a click on a failing test, a look at each proposal, and a test that passes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from e2e.shop import (
    BROKEN,
    RIGHT,
    RUN_MS,
    TEST,
    WRONG,
    Open,
    changed_files,
    open_the_test,
    passes,
    settings,
    shown,
    wait_for,
)
from e2e.workbench import Workbench, note_figure, picture

pytestmark = [pytest.mark.editor, pytest.mark.timeout(900)]


def test_a_failing_test_is_fixed_with_one_rejection_and_two_acceptances(
    open_window: Open, shop: Path, bare_python: Path, scripted: Callable[..., Any]
) -> None:
    model = scripted("twopart")
    window = open_window(shop, settings(bare_python, model="ollama:qwen2.5:3b", ollamaHost=model.url))
    page, cart, discounts = window.page, shop / "shop" / "cart.py", shop / "shop" / "discounts.py"
    open_the_test(window)

    page.keyboard.press("Control+.")
    expect(page.locator(".action-widget").get_by_text("Fix failing test")).to_be_visible()
    picture(page, "vscode-light-bulb")
    page.keyboard.press("Escape")

    window.line(TEST).click(button="right")
    window.menu_item("Fix Failing Test").wait_for()
    picture(page, "vscode-menu")
    clicked = time.perf_counter()
    window.menu_item("Fix Failing Test").click()
    expect(window.status("Regreen:")).to_be_visible()
    note_figure("click_to_first_sign_ms", round((time.perf_counter() - clicked) * 1000))

    # The libraries that talk to a model are fetched on its first use, so this takes longer than a run.
    shown(window, window.status("Review: shop/cart.py"))
    expect(window.line(WRONG)).to_be_visible()
    expect(window.status("step 1 of 12")).to_be_visible()
    assert BROKEN in cart.read_text()
    window.title_button("Reject Proposal").click()

    expect(window.line(RIGHT)).to_be_visible(timeout=RUN_MS)
    assert BROKEN in cart.read_text()
    window.toast("Regreen proposes a change in shop/cart.py").wait_for()
    picture(page, "vscode-proposal")
    window.title_button("Accept Proposal").click()

    shown(window, window.status("Review: shop/discounts.py"))
    assert RIGHT in cart.read_text(), "an accepted edit is saved"
    expect(window.title_button("Accept Proposal")).to_be_visible()
    window.title_button("Accept Proposal").click()

    shown(window, window.toast("Fixed: test_"))
    picture(page, "vscode-outcome")
    window.command("Regreen: Show Output")
    expect(page.locator(".part.panel")).to_contain_text("Fixed")
    window.command("Notifications: Clear All Notifications")
    window.command("View: Toggle Maximized Panel")
    expect(page.locator(".part.panel")).to_contain_text("Step 3")
    picture(page, "vscode-output")
    assert ">= threshold" in discounts.read_text()
    expect(page.locator(".tab.dirty")).to_have_count(0)
    assert passes(shop)
    log = window.server.extension_log()
    for line in ("Step 1", "→ edit_file(path=", "you: reject", "you: accept", "Fixed: "):
        assert line in log
    assert changed_files(shop) == ["shop/cart.py", "shop/discounts.py"]


def test_with_no_model_at_all_the_vsix_alone_fixes_the_test_by_keyboard(
    open_window: Open, shop: Path, bare_python: Path
) -> None:
    window = open_window(shop, settings(bare_python, model="builtin"))
    page, cart = window.page, shop / "shop" / "cart.py"
    open_the_test(window)
    pressed = time.perf_counter()
    page.keyboard.press("Control+;")
    page.keyboard.press("g")
    expect(window.status("Regreen:")).to_be_visible()
    note_figure("key_to_first_sign_ms", round((time.perf_counter() - pressed) * 1000))
    expect(window.status(re.compile("running the test|asking the model|step 1"))).to_be_visible()
    note_figure("key_to_first_event_of_the_run_ms", round((time.perf_counter() - pressed) * 1000))
    shown(window, window.status("Review: shop/"))
    note_figure("builtin_click_to_proposal_ms", round((time.perf_counter() - pressed) * 1000))
    expect(window.title_button("Accept Proposal")).to_be_visible()
    page.keyboard.press("Control+;")
    page.keyboard.press("Control+y")
    shown(window, window.toast("Fixed: test_"))
    assert passes(shop)

    assert changed_files(shop) == ["shop/cart.py", "shop/discounts.py"]
    window.command("Regreen: Undo Files of the Last Run")
    page.locator(".quick-input-list .monaco-list-row").filter(has_text="shop/discounts.py").click()
    page.keyboard.press("Enter")
    wait_for(lambda: changed_files(shop) == ["shop/cart.py"], "one of the two files is as it was")

    window.command("Regreen: Undo Last Run")
    wait_for(lambda: BROKEN in cart.read_text() and not changed_files(shop), "the files are as they were")

    window.status("every edit").click()
    page.locator(".quick-input-list .monaco-list-row").filter(has_text="When green").click()
    expect(window.status("when green")).to_be_visible()


def test_a_file_with_unsaved_changes_is_fixed_and_stays_unsaved(
    open_window: Open, shop: Path, bare_python: Path
) -> None:
    window = open_window(shop, settings(bare_python, model="builtin"))
    page, cart = window.page, shop / "shop" / "cart.py"
    window.open("shop/cart.py", 1)
    page.keyboard.press("Control+End")
    page.keyboard.type("# my note")
    expect(page.locator(".tab.dirty").filter(has_text="cart.py")).to_be_visible()
    open_the_test(window)
    window.command("Regreen: Fix Failing Test")
    shown(window, window.status("Review: shop/"))
    expect(window.title_button("Accept Proposal")).to_be_visible()
    window.command("Regreen: Accept This Proposal and All to Come")
    shown(window, window.toast("Fixed: test_"))

    expect(page.locator(".tab.dirty").filter(has_text="cart.py")).to_be_visible()
    assert BROKEN in cart.read_text()
    window.tab("cart.py").click()
    page.keyboard.press("Control+s")
    wait_for(lambda: "# my note" in cart.read_text() and passes(shop), "the note and the fix are on disk")


def test_a_run_started_in_the_test_explorer_can_be_cancelled_while_its_proposal_waits(
    explorer: tuple[Workbench, Locator], shop: Path
) -> None:
    window, row = explorer
    page = window.page
    row.hover()
    row.locator('a.action-label[aria-label^="Fix Failing Test"]').click()
    shown(window, window.status("Review: shop/"))
    expect(window.title_button("Accept Proposal")).to_be_visible()
    picture(page, "vscode-test-explorer")

    window.command("View: Close Editor")
    expect(window.title_button("Accept Proposal")).to_have_count(0)
    window.status("Review: shop/").click()
    expect(window.title_button("Accept Proposal")).to_be_visible()

    pressed = time.perf_counter()
    page.keyboard.press("Control+;")
    page.keyboard.press("Control+g")
    expect(window.toast("Cancelled: test_")).to_be_visible()
    expect(window.title_button("Accept Proposal")).to_have_count(0)
    note_figure("cancel_to_outcome_ms", round((time.perf_counter() - pressed) * 1000))
    expect(window.status("Review:")).to_have_count(0)
    assert changed_files(shop) == []

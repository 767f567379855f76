"""A test that needs what sealed runs do not get: any editor puts the question to the person, and passes the answer on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from environments import person_python
from lsp.wire_client import Client, Message
from unit.testing.small_projects import write_files

FILES = {
    "shop.py": "import os\n\n\ndef doubled(price):\n    return price + int(os.getenv('SHOP_RATE')) * price * 0\n",
    "test_shop.py": "from shop import doubled\n\n\ndef test_doubled():\n    assert doubled(3) == 3\n",
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    folder = write_files(tmp_path / "shop", FILES)
    started = Client(env={"SHOP_RATE": "2"})
    started.initialize(folder, options={"model": "builtin", "interpreter": person_python(), "seal": "prefer"})
    yield started
    started.kill()


@pytest.mark.parametrize(
    ("choice", "outcome", "says"),
    [
        (0, "already_passing", "once its tests may see the environment variable SHOP_RATE"),
        (2, "setup_problem", "--env SHOP_RATE (in VS Code regreen.environment)"),
        (None, "setup_problem", "--env SHOP_RATE"),
    ],
    ids=["allow", "end", "dismissed"],
)
def test_the_question_reaches_the_person_and_the_answer_the_run(
    client: Client, tmp_path: Path, choice: int | None, outcome: str, says: str
) -> None:
    asked: list[Message] = []

    def answer(message: Message) -> Message | None:
        asked.append(message["params"])
        return None if choice is None else message["params"]["actions"][choice]

    client.answers["window/showMessageRequest"] = answer
    run = client.fix(client.open(tmp_path / "shop" / "test_shop.py"), "test_doubled")
    end = client.outcome(run, 60)
    assert (end["outcome"], says in end["explanation"]) == (outcome, True), end
    assert [question["message"] for question in asked] == [
        "Regreen: This test seems to need the environment variable SHOP_RATE, which sealed runs do not get. "
        "Allow it for this run?"
    ]
    notes = [step for step in client.all("regreen/step") if step.get("event") == "note"]
    shown = [note.get("allowed") for note in notes if note.get("allowed")]
    assert shown == (["see the environment variable SHOP_RATE"] if choice == 0 else [])

"""What the scripted model knows about toy_repo: the edits, right and wrong, and how a failure reads."""

from __future__ import annotations

import re
from dataclasses import dataclass

CART = "shop/cart.py"
DISCOUNTS = "shop/discounts.py"
TEST = "tests/test_cart.py"
FILES = (CART, "shop/receipts.py", DISCOUNTS, "shop/prices.py")


@dataclass(frozen=True)
class Edit:
    """One replacement, with the sentence that goes with it and the whole function for the fence dialect."""

    path: str
    find: str
    replace: str
    why: str
    function: str = ""

    def again_from(self, find: str) -> Edit:
        """The same edit of a file that holds another text now."""
        return Edit(self.path, find, self.replace, self.why, self.function)


_ADD = '''def add(self, sku, quantity=1):
    """Put some pieces of a product into the cart, on top of those already there."""
    self.quantities.setdefault(sku, 0)
    {line}
'''
_OFFER = '''def best_offer(subtotal):
    """The highest percentage that a subtotal earns; 0 when it earns none."""
    earned = [percent for threshold, percent in OFFERS.items() if subtotal >= threshold]
    return max(earned, default=0)
'''

ORIGINAL_LINE = "self.quantities[sku] = quantity"
WRONG_LINE = "self.quantities[sku] = max(self.quantities[sku], quantity)"
RIGHT_LINE = "self.quantities[sku] += quantity"
OTHER_RIGHT_LINE = "self.quantities[sku] = self.quantities[sku] + quantity"

WRONG = Edit(
    CART,
    ORIGINAL_LINE,
    WRONG_LINE,
    "The second add makes the quantity smaller, so the larger one has to be kept.",
    _ADD.format(line=WRONG_LINE),
)
RIGHT = Edit(
    CART,
    ORIGINAL_LINE,
    RIGHT_LINE,
    "Adding a product again must add to the quantity that is already in the cart, not replace it.",
    _ADD.format(line=RIGHT_LINE),
)
OTHER_RIGHT = Edit(
    CART,
    ORIGINAL_LINE,
    OTHER_RIGHT_LINE,
    "The new quantity is the old one plus what is added.",
    _ADD.format(line=OTHER_RIGHT_LINE),
)
OFFER = Edit(
    DISCOUNTS,
    "subtotal > threshold",
    "subtotal >= threshold",
    "A subtotal of exactly 400 has reached the offer, so the threshold itself must count.",
    _OFFER,
)
UNDO = Edit(
    CART, WRONG_LINE, ORIGINAL_LINE, "That did not help, so I take it back.", _ADD.format(line=ORIGINAL_LINE)
)

DONE = (
    "The test passes now: adding a product again adds to its quantity, and a subtotal that is exactly at the "
    "threshold earns the offer."
)

_ASSERTION = re.compile(r"assert (\d+) == (\d+)")
_NOT_FOUND = re.compile(
    r"(?i)not found|does not (?:occur|contain|hold)|no match|nowhere|occurs 0|is not in|no such text"
)
_TAKEN_BACK = re.compile(
    r"(?i)undone|not kept|rolled back|taken back|reverted|discarded|not applied|not written|not changed|"
    r"is as it was|still as|(?:file|files|code) (?:is|are) unchanged|rejected|declined|turned down"
)
_REJECTED = re.compile(r"(?i)reject|declin|turned down|said no|did not accept|not accepted")


def failing_values(text: str) -> tuple[int, int] | None:
    """Left and right of the last failed comparison of numbers in a text."""
    found = _ASSERTION.findall(text)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def says_not_found(text: str) -> bool:
    """Whether an edit was refused since its text is not in the file."""
    return bool(_NOT_FOUND.search(text))


def says_taken_back(text: str) -> bool:
    """Whether the last edit is no longer in the file."""
    return bool(_TAKEN_BACK.search(text))


def says_rejected(text: str) -> bool:
    """Whether the person did not want the last edit."""
    return bool(_REJECTED.search(text))

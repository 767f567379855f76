"""Characters that word processors and chat windows put where Python wants plain ones."""

from __future__ import annotations

import re

PUNCTUATION = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "‟": '"',
        "″": '"',
        "＂": '"',
        "‘": "'",
        "’": "'",
        "‚": "'",
        "‛": "'",
        "′": "'",
        "＇": "'",
        "（": "(",
        "）": ")",
        "，": ",",
        "：": ":",
        "；": ";",
        "＝": "=",
        "［": "[",
        "］": "]",
        "｛": "{",
        "｝": "}",
        "–": "-",
        "—": "-",
        "−": "-",
        "\u00a0": " ",
        "\u2007": " ",
        "\u202f": " ",
        "\u3000": " ",
        "\u200b": None,
        "\u200c": None,
        "\u200d": None,
        "\u2060": None,
        "\ufeff": None,
    }
)
ODD = re.compile("[" + "".join(re.escape(chr(code)) for code in PUNCTUATION) + "]")

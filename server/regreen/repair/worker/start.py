"""Start of the repair worker, in the person's interpreter: `python start.py DESCRIPTOR`; `hand IN OUT` starts a hand.

Only the standard library, the probe's own modules and the person's pytest are used, Python 3.8 or newer. The path is set
as `python -m pytest` sets it, so that the project imports what it imports for its owner.
"""

import os
import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(1, os.path.join(sys.path[0], "..", "..", "testing", "probe"))
    from regreen_worker import hands, serve

    sys.path[:2] = [os.getcwd()]
    if sys.argv[1] == "hand":
        hands.main(int(sys.argv[2]), int(sys.argv[3]))
    else:
        serve.main(int(sys.argv[1]))

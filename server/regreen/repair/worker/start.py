"""Start of the repair worker, in the person's interpreter: `python start.py DESCRIPTOR`; `hand IN OUT` starts a hand.

Only the standard library and the person's own pytest are used, Python 3.8 or newer. The path is set as
`python -m pytest` sets it, so that the project imports what it imports for its owner.
"""

import os
import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    from regreen_worker import hands, serve

    sys.path[0] = os.getcwd()
    if sys.argv[1] == "hand":
        hands.main(int(sys.argv[2]), int(sys.argv[3]))
    else:
        serve.main(int(sys.argv[1]))

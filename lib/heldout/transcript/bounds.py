"""How large facts may grow: the limits that keep memory constant whatever the transcript's length.

What a limit leaves out is marked where it was left out (`cut`, `*_omitted`, `oversized`), never dropped silently.
"""

OVERSIZED = 64 << 20  # bytes: a longer line is counted and passed over, its content is unknown
HUGE = 8 << 20  # bytes: the strings of a longer line are shortened before it is parsed
HUGE_STRING = 128 << 10  # bytes kept of a string of such a line

ACTIONS = 5_000  # actions kept whole; later ones are only counted
STRING = 64 << 10  # characters kept of one string of an action's input
INPUTS = 4 << 20  # bytes of inputs kept in all; after that a string keeps SHORT characters
SHORT = 1_024

TEXTS = 2 << 20  # characters of visible text kept
HOOKS = 1_000  # hooks kept
HOOK_TEXT = 2_000  # characters kept of what a hook gave the model
COMMAND = 300  # characters kept of a hook's command
COMMANDS = 1_000  # slash commands kept
PATHS = 2_000  # paths kept, those with the most bytes
BAD_LINES = 20  # bad lines described; all are counted
SEEN = 1_000  # distinct names kept in any other list (models, agents' files)

"""The parts of the stub of the Messages API: failures to play, sessions and their steps, messages on the wire."""

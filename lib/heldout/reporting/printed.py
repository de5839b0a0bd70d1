"""How figures are rounded: a rate that is not 0 or 1 is never told as 0 or 1, and a p-value never as 0."""

EXACT = 1e-9  # nearer to a whole number, a rate is that number: what is left is rounding of sums
LEAST_P = 0.001  # below it a p-value is only said to be so


def rounded(value: float, digits: int = 4) -> float:
    """The value to that many digits, or to as many more as it takes to tell it from a whole number that it is not."""
    return round(value, _digits(value, digits))


def rate(value: float, digits: int = 2, sign: str = "") -> str:
    """`0.67`, `1.00` for all of them, `0.995` for 209 of 210. `sign` is `+` for a difference."""
    return f"{value:{sign}.{_digits(value, digits)}f}"


def percent(value: float, digits: int = 0) -> str:
    """The same of a hundred, without the sign for it: `67`, `100` for all of them, `99.5` for 209 of 210."""
    return f"{100 * value:.{_digits(value, digits, 100)}f}"


def short(value: float, digits: int = 2, sign: str = "") -> str:
    """A rate without zeros at its end: `1`, `0.5`, `0.995`."""
    return f"{rounded(value, digits):{sign}.12g}"


def p_value(value: float, digits: int = 3) -> str:
    """`0.0286`, `<0.001`."""
    return f"<{LEAST_P:g}" if value < LEAST_P else f"{value:.{digits}g}"


def _digits(value: float, digits: int, of: int = 1) -> int:
    whole = round(value)
    if abs(value - whole) < EXACT:
        return digits
    while round(of * value, digits) == of * whole:
        digits += 1
    return digits

"""Statistics of two programs that run in turns, old, new, new, old, and of a pass of the same length in which
the old one takes all turns: what that pass finds is noise.

A round has four costs of each pass. Its contrast is the mean logarithm of the two in the middle less that of
the other two, so that a drift that is the same in each turn cancels. The median of all rounds counts.
"""

import math
import statistics

LEAST_MARGIN = 0.02
STANDARD_ERRORS = 3.2
CANNOT_TELL = 0.10  # a margin above it


def contrast(costs):
    """Logarithm of new over old, of a round's four costs."""
    first, second, third, last = map(math.log, costs)
    return (second + third - first - last) / 2


def compare(rounds, nulls):
    """{ratio, margin, speed} of the rounds of old and new, and of those of old alone. The spread is a standard
    deviation, which sees that some rounds ran in another mode, where a median absolute deviation does not."""
    found, noise = (list(map(contrast, each)) for each in (rounds, nulls))
    middle, offset = statistics.median(found), statistics.median(noise)
    rest = [value - middle for value in found] + [value - offset for value in noise]
    spread = math.sqrt(sum(value * value for value in rest) / (len(rest) - 2))
    error = 1.2533 * spread * math.sqrt(1 / len(found))
    margin = math.expm1(max(math.log1p(LEAST_MARGIN), STANDARD_ERRORS * error, 2 * abs(offset)))
    ratio = math.exp(middle)
    speed = ("slower" if ratio > 1 + margin else "faster" if ratio < 1 / (1 + margin)
             else "cannot tell" if margin > CANNOT_TELL else "")
    return {"ratio": ratio, "margin": margin, "speed": speed}


def slowed(rounds, factor):
    """The rounds as if new took `factor` times as long."""
    return [[first, second * factor, third * factor, last] for first, second, third, last in rounds]


def trust(sessions, factors):
    """The share of sessions that raised an alarm, and, for each factor, the share that would have found a program that
    takes that many times as long. Each session, (rounds, nulls), compared one program with itself."""
    def share(factor, *verdicts):
        found = [compare(slowed(rounds, factor), nulls)["speed"] in verdicts for rounds, nulls in sessions]
        return sum(found) / len(found)
    return {"alarms": share(1, "slower", "faster"),
            "finds": {str(factor): share(factor, "slower") for factor in factors}}

"""Statistics of two programs that run in turns, old, new, new, old, and of a pass of the same length in which
the old one takes all turns: what that pass finds is noise.

A round has four costs of each pass. There are two ways to compare them, and the one with the narrower margin counts:

by rounds   the contrast of a round is the mean logarithm of the two costs in the middle less that of the other
            two, so that a drift that is the same in each turn cancels; the median of all rounds counts
by the best the least cost of either program, where both were at their best in several runs: this tells where a
            run takes 1.3 times as long whenever somebody else uses the other thread of the core
"""

import math
import statistics

LEAST_MARGIN = 0.02
STANDARD_ERRORS = 3.2
BEST_RUNS, OF_THEIR_SPREAD = 5, 1.5
CANNOT_TELL = 0.10  # a margin above it


def contrast(costs):
    """Logarithm of new over old, of a round's four costs."""
    first, second, third, last = map(math.log, costs)
    return (second + third - first - last) / 2


def by_rounds(rounds, nulls):
    """The logarithms of ratio and margin. The spread is a standard deviation, which sees that some rounds ran in
    another mode, where a median absolute deviation does not."""
    found, noise = (list(map(contrast, each)) for each in (rounds, nulls))
    middle, offset = statistics.median(found), statistics.median(noise)
    rest = [value - middle for value in found] + [value - offset for value in noise]
    spread = math.sqrt(sum(value * value for value in rest) / (len(rest) - 2))
    error = 1.2533 * spread * math.sqrt(1 / len(found))
    return middle, max(STANDARD_ERRORS * error, 2 * abs(offset))


def by_the_best(rounds, nulls):
    """The logarithms of ratio and margin: that is how far the fifth best run of a program lies above its best, half
    as much again."""
    outer, inner = (0, 3), (1, 2)
    old, new, *twins = (sorted(math.log(costs[turn]) for costs in each for turn in turns)[:BEST_RUNS]
                        for each in (rounds, nulls) for turns in (outer, inner))
    spread = max(best[-1] - best[0] for best in (old, new, *twins))
    return new[0] - old[0], max(OF_THEIR_SPREAD * spread, 2 * abs(twins[0][0] - twins[1][0]))


def compare(rounds, nulls):
    """{ratio, margin, speed} of the rounds of old and new, and of those of old alone."""
    ratio, margin = min((way(rounds, nulls) for way in (by_rounds, by_the_best)), key=lambda found: found[1])
    ratio, margin = math.exp(ratio), math.expm1(max(math.log1p(LEAST_MARGIN), margin))
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

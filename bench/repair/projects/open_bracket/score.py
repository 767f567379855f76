import math


def rounded(value, step):
    """To the nearest multiple of step."""
    return math.floor(value / step + 0.5) * step


def points(results):
    return [rounded(sum(result, 5) for result in results]

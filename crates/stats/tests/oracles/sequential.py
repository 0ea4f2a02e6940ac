# Stopping rules and power: scipy's multivariate normal distribution and noncentral t, statsmodels' power, and plain
# arithmetic from the definitions. A line in: the number of a question, then its numbers. A line out for each.
import math, sys, warnings
import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr
from statsmodels.stats.power import TTestPower

warnings.simplefilter("ignore")  # that a solver gave up is told by nan


def crossings(numbers):
    """Probability of having crossed a boundary by each look, from looks and nominal levels."""
    looks, levels = np.split(np.array(numbers), 2)
    correlation = np.sqrt(np.minimum.outer(looks, looks) / np.maximum.outer(looks, looks))
    boundary = stats.norm.isf(levels / 2)
    spent = [levels[0]]
    for k in range(2, len(looks) + 1):
        joint = stats.multivariate_normal(np.zeros(k), correlation[:k, :k], abseps=1e-5, releps=1e-5, maxpts=100_000)
        spent.append(1 - joint.cdf(boundary[:k], lower_limit=-boundary[:k]))
    return spent


def chi2_pdf(v, nu):
    # scipy's own takes a hundred times as long for a single number.
    return math.exp((nu / 2 - 1) * math.log(v) - v / 2 - nu / 2 * math.log(2) - math.lgamma(nu / 2)) if v > 0 else 0.0


def difference(numbers):
    """Power by scipy's noncentral t and by statsmodels, and the blocks by statsmodels: nan where they do not know or
    are not asked. (Its
    `solve_power` is inexact for the size.) Then power by integrating over s², with another rule than ours."""
    n, size, alpha, power = numbers
    critical, shift, nu = stats.t.isf(alpha / 2, n - 1), size * math.sqrt(n), n - 1

    def given(v):
        edge = critical * math.sqrt(v / nu)
        return (ndtr(shift - edge) + ndtr(-edge - shift)) * chi2_pdf(v, nu)

    places = sorted([nu * (shift / critical) ** 2, stats.chi2.median(nu)])
    end = max(stats.chi2.isf(1e-14, nu), places[1] + 1)
    integral = quad(given, 0, end, points=places, limit=200, epsabs=1e-11)[0]
    theirs = TTestPower()
    return [stats.nct.sf(critical, nu, shift) + stats.nct.cdf(-critical, nu, shift), theirs.power(size, n, alpha),
            theirs.solve_power(effect_size=size, alpha=alpha, power=power) if power else math.nan, integral]


def equivalence(numbers):
    """Both one-sided tests, by integrating over s² with another density and another rule than ours."""
    n, half, true, alpha = numbers
    critical = stats.t.isf(alpha, n - 1)

    def given(v):
        edge = critical * math.sqrt(v / (n - 1))
        low, high = edge - (half + true) * math.sqrt(n), (half - true) * math.sqrt(n) - edge
        return max(ndtr(high) - ndtr(low), 0) * chi2_pdf(v, n - 1)

    kink = (n - 1) * (half * math.sqrt(n) / critical) ** 2
    return [quad(given, 0, min(kink, stats.chi2.isf(1e-14, n - 1)), limit=500, epsabs=1e-12,
                 points=[stats.chi2.median(n - 1)] if kink > stats.chi2.median(n - 1) else None)[0]]


def sd_upper(numbers):
    n, confidence = numbers
    return [math.sqrt((n - 1) / stats.chi2.ppf(1 - confidence, n - 1))]


def bet(x):
    """The bet against the coins, factor by factor."""
    u = [0 if v == 0 else math.copysign(min(abs(v) / np.median(np.abs(x[: i + 1])), 1.5), v) for i, v in enumerate(x)]
    products = [np.prod([math.exp(k * w) / math.cosh(k * w) for w in u])
                for size in (0.1, 0.2, 0.4, 0.8, 1.6) for k in (size, -size)]
    return [float(np.mean(products))]


questions = [crossings, difference, equivalence, sd_upper, bet]
for line in sys.stdin:
    question, *numbers = map(float, line.split())
    print(*(repr(float(answer)) for answer in questions[int(question)](numbers)))

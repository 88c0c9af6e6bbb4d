"""Closed forms of docs/statistics.md, written from their sources with NumPy and SciPy."""

import math

import numpy as np
from scipy import special, stats

LEVEL = 0.95
Z = stats.norm.ppf(0.5 + LEVEL / 2)


def t_of(df):
    return special.stdtrit(df, 0.5 + LEVEL / 2)


def hold(value, low, high, least=0.0, most=1.0):
    """An estimate within [least, most] whose interval contains it."""
    value = min(most, max(least, value))
    return value, min(value, max(least, low)), max(value, min(most, high))


def wilson(p, n):
    """Wilson's score interval of a share p of n trials, which need not be whole."""
    if n == 0:
        return 0.0, 1.0
    # The ends are the roots of (p - x)^2 = z^2 x (1 - x) / n.
    a, b, c = 1 + Z * Z / n, -(2 * p + Z * Z / n), p * p
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
    return (0.0 if p <= 0 else max(0.0, low)), (1.0 if p >= 1 else min(1.0, high))


def rate(k, n):
    """A rate with Wilson's interval; None of nothing."""
    return None if n == 0 else (k / n, *wilson(k / n, n))


def of_clusters(clusters):
    """The rate of clusters [(k, n)], its variance, and the number of independent prompts
    that would say as much, at most their number; of clusters alike, a prompt each."""
    k, n = np.array([c[0] for c in clusters], float), np.array([c[1] for c in clusters], float)
    m, total = len(clusters), n.sum()
    p = k.sum() / total
    residual = k - p * n
    if (residual**2).sum() <= 1e-18 * total * total:
        return p, float(m), total, False
    variance = m / (m - 1) * (residual**2).sum() / total**2
    return p, min(total, p * (1 - p) / variance), total, True


def wilson_clustered(clusters):
    p, effective, _, differ = of_clusters(clusters)
    if differ:
        effective *= (Z / t_of(len(clusters) - 1)) ** 2
    return hold(p, *wilson(p, effective))


def design_effect(clusters):
    if not clusters:
        return 1.0
    _, effective, total, _ = of_clusters(clusters)
    return total / effective


def at_effective(p, variance, units, most):
    """Wilson's interval at the effective number of units."""
    effective = float(units)
    if variance > 0 and units > 1:
        effective = min(most, p * (1 - p) / variance) * (Z / t_of(units - 1)) ** 2
    return hold(p, *wilson(p, effective))


def mean_share(shares, most=math.inf):
    """The mean of shares of drawn units."""
    shares = np.array(shares, float)
    n = len(shares)
    if n == 0:
        return None
    mean, squares = shares.mean(), ((shares - shares.mean()) ** 2).sum()
    if math.isinf(most) and np.isin(shares, (0.0, 1.0)).all():
        return mean, *wilson(mean, n)
    variance = squares / (n * (n - 1)) if squares >= 1e-18 * n * n else 0.0
    return at_effective(mean, variance, n, most)


def mean_rate(clusters):
    """The mean over prompts that were asked several times."""
    return mean_share([k / n for k, n in clusters], most=sum(n for _, n in clusters))


def difference(first, second, correlation=0.0):
    """The first of two rates less the second, by square and add."""
    d = first[0] - second[0]

    def reach(a, b):
        return math.sqrt(max(0.0, a * a + b * b - 2 * correlation * a * b))

    return hold(d, d - reach(first[0] - first[1], second[2] - second[0]), d + reach(first[2] - first[0], second[0] - second[1]), -1, 1)


def tango(only_a, only_b, n):
    """B's rate less A's over n common items: the differences that the score test keeps."""

    def statistic(d):
        # q is the probability of "only A"; that of "only B" is q + d.
        b = -(only_a + only_b) + (2 * n - only_b + only_a) * d
        c = -only_a * d * (1 - d)
        q = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
        variance = n * (2 * q + d * (1 - d))
        return (only_b - only_a - n * d) ** 2 - Z * Z * variance

    value = (only_b - only_a) / n

    def end(far):
        if statistic(far) <= 0:
            return far
        # The statistic is below 0 at the value itself, unless nothing flipped.
        low, high = value, far
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (low, middle) if statistic(middle) > 0 else (middle, high)
        return low

    return hold(value, end(-1.0), end(1.0), -1, 1)


def mcnemar(only_a, only_b):
    """The two-sided mid-p of the exact test."""
    n = only_a + only_b
    if n == 0:
        return 1.0
    least = min(only_a, only_b)
    if only_a == only_b:
        # The two tails meet in the observed table, of which half counts (Fagerland and others).
        return 1 - stats.binom.pmf(least, n, 0.5) / 2
    half = stats.binom.cdf(least, n, 0.5) - stats.binom.pmf(least, n, 0.5) / 2
    return min(1.0, 2 * half)


def tango_clustered(only_a, only_b, n, variance, clusters):
    d, flips = (only_b - only_a) / n, only_a + only_b
    effect, alone = n / clusters, (flips / n - d * d) / n
    if variance > 1e-18 and alone > 1e-18:
        effect = variance / alone
    if clusters <= 1:
        return (d, -1.0, 1.0), 1.0
    scale = (Z / t_of(clusters - 1)) ** 2 / effect
    p = 1.0
    if scale > 0 and flips > 0:
        p = 2 * stats.t.cdf(-abs(d) * n / math.sqrt(flips * effect), clusters - 1)
    if scale * n < 1e-9:
        return (d, -1.0, 1.0), p
    _, low, high = tango(only_a * scale, only_b * scale, n * scale)
    return (d, low, high), p


class Pairs:
    """Items of which two sides spoke: of each a cluster (None for one of its own), and what
    each side said, as (yes, of)."""

    def __init__(self, items):
        self.items = [i for i in items if i[1][1] and i[2][1]]
        self.a = np.array([a[0] / a[1] for _, a, _ in self.items])
        self.b = np.array([b[0] / b[1] for _, _, b in self.items])
        self.n = len(self.items)
        self.both, self.only_a = (self.a * self.b).sum(), (self.a * (1 - self.b)).sum()
        self.only_b, self.neither = ((1 - self.a) * self.b).sum(), ((1 - self.a) * (1 - self.b)).sum()
        self.several = any(a[1] > 1 or b[1] > 1 for _, a, b in self.items)
        self.groups = {}
        for i, (cluster, _, _) in enumerate(self.items):
            self.groups.setdefault(("own", i) if cluster is None else cluster, []).append(i)
        self.clustered = len(self.groups) < self.n

    def spread(self):
        """The variance of the difference by leaving out one cluster at a time, at least that
        of items of their own, that, and the effective number of clusters (Kish)."""
        n, change = self.n, self.b - self.a
        d = change.mean()
        alone = max(0.0, (change**2).mean() - d * d) / n
        sizes = np.array([len(g) for g in self.groups.values()], float)
        left = [(change.sum() - change[g].sum()) / (n - len(g)) for g in self.groups.values() if len(g) < n]
        jackknife = ((np.array(left) - d) ** 2).sum() * (len(sizes) - 1) / len(sizes)
        return max(alone, jackknife), alone, n * n / (sizes**2).sum()

    def design_effect(self):
        if self.n == 0:
            return 1.0
        variance, alone, _ = self.spread()
        return variance / alone if alone > 0 else 1.0

    def difference(self):
        """(value, low, high), p and the name of the test; None of nothing."""
        if self.n == 0:
            return None
        if not self.clustered and not self.several:
            e = tango(self.only_a, self.only_b, self.n)
            return e, mcnemar(round(self.only_a), round(self.only_b)), "mcnemar_mid_p"
        variance, _, effective = self.spread()
        e, p = tango_clustered(self.only_a, self.only_b, self.n, variance, effective)
        return e, p, "mcnemar_clustered"

    def table(self):
        return np.array([[round(self.both), round(self.only_a)], [round(self.only_b), round(self.neither)]], float)


def fisher(k1, n1, k2, n2):
    return stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]])[1]


def holm(p):
    order, out, largest = sorted(range(len(p)), key=lambda i: p[i]), [0.0] * len(p), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[i]))
        out[i] = largest
    return out


def kappa(table):
    """Cohen's kappa with Wilson's interval of the agreement at the effective number of items."""
    n = table.sum()
    if n == 0:
        return None
    share = table / n
    rows, columns = share.sum(1), share.sum(0)
    agreed, chance = np.trace(share), (rows * columns).sum()
    if chance == 1:
        return None
    value = (agreed - chance) / (1 - chance)
    term = np.eye(len(table)) - (1 - value) * (rows[None, :] + columns[:, None])
    variance = max(0.0, (share * term**2).sum() - (value - chance * (1 - value)) ** 2)
    return scaled(value, agreed, chance, variance, n)


def scaled(value, agreed, chance, variance, n):
    effective = n
    if variance > 1e-18 and 0 < agreed < 1:
        effective = min(n, n * agreed * (1 - agreed) / variance)
    low, high = wilson(agreed, effective)
    return hold(value, (low - chance) / (1 - chance), (high - chance) / (1 - chance), -1, 1)


def ac1(table):
    """Gwet's AC1, likewise."""
    n, classes = table.sum(), len(table)
    if n == 0:
        return None
    share = table / n
    mean = (share.sum(0) + share.sum(1)) / 2
    agreed, chance = np.trace(share), (mean * (1 - mean)).sum() / (classes - 1)
    value = (agreed - chance) / (1 - chance)
    term = np.eye(classes) - (1 - value) * (1 - mean[:, None] - mean[None, :]) / (classes - 1)
    return scaled(value, agreed, chance, (share * term**2).sum() - (share * term).sum() ** 2, n)


def f1(both, errors):
    """Positive agreement, with the indirect Wilson interval."""
    if both + errors == 0:
        return None
    low, high = wilson(both / (both + errors), both + errors)
    return hold(2 * both / (2 * both + errors), 2 * low / (1 + low), 2 * high / (1 + high))


def beyond(mean, a, b, miss, downward):
    """How far the quantile of a beta distribution beyond which a share miss lies is from a mean."""
    if downward:
        return max(0.0, mean - special.betaincinv(a, b, miss))
    return max(0.0, special.betainccinv(a, b, miss) - mean)


def stratified_rate(strata, effect, least=0.28):
    """The rate of strata [(size, mean, labels)], by labels drawn at random in each."""
    strata = [s for s in strata if s[0] > 0]
    if not strata or any(s[2] <= 0 for s in strata):
        return None
    n = sum(s[0] for s in strata)
    p = sum(s[0] * s[1] for s in strata) / n
    prompts = n / max(1.0, effect)

    def reach(miss, downward):
        squares = beyond(p, p * prompts + 0.5, (1 - p) * prompts + 0.5, miss, downward) ** 2
        for size, mean, labels in strata:
            if labels < size:
                w = size / n
                d = w * beyond(mean, mean * labels + w / 4, (1 - mean) * labels + w / 4, miss, downward)
                squares += d * d * (1 - labels / size)
        return math.sqrt(squares)

    miss = 1 - LEVEL
    below, above = reach(miss / 2, True), reach(miss / 2, False)
    upward = min(max(below**2 / (below**2 + above**2), least), 1 - least)
    return hold(p, p - reach(miss * (1 - upward), True), p + reach(miss * upward, False))


def expected_rate(strata, expected, effect):
    """The rate by labels that were drawn in steps by score."""
    if any(s[0] > 0 and s[2] <= 0 for s in strata):
        return None
    n = sum(s[0] for s in strata)
    p = min(1.0, sum(s[0] * s[1] for s in strata) / n)
    labels = sum(s[2] for s in strata if s[2] < s[0])
    believed = variance = 0.0
    for (size, mean, drawn), share in zip(strata, expected):
        w = size / n
        if drawn >= size:
            believed += w * mean
        else:
            unknown = 1.5 * w / labels
            m = (mean * drawn + 2 * share + unknown) / (drawn + 2 + 2 * unknown)
            believed += w * m
            variance += w * w * m * (1 - m) / drawn * (1 - drawn / size)
    trials = prompts = n / max(1.0, effect)
    of = believed * (1 - believed)
    if of > 0 and variance > 0:
        trials = of / (variance + of / prompts) * max(1 / 3, 1 - 1 / labels)
    miss = (1 - LEVEL) / 2
    a, b = p * trials + 0.5, (1 - p) * trials + 0.5
    return hold(p, special.betaincinv(a, b, miss), special.betainccinv(a, b, miss))


def stratified_ratio(strata, effect):
    """part / (part + rest) over strata [(size, labels, part, rest)]."""
    if any(s[0] > 0 and s[1] <= 0 for s in strata):
        return None
    n = sum(s[0] for s in strata)
    part, rest = sum(s[0] * s[2] for s in strata), sum(s[0] * s[3] for s in strata)
    if part + rest <= 0:
        return None
    miss, ratio, trials = (1 - LEVEL) / 2, part / (part + rest), (part + rest) / max(1.0, effect)

    def off(r, downward):
        squares = ((part + rest) * beyond(ratio, ratio * trials + 0.5, (1 - ratio) * trials + 0.5, miss, downward)) ** 2
        for size, labels, p, q in strata:
            if size == 0 or labels >= size:
                continue
            prior = size / n / 2

            def reach(mean, down):
                return beyond(mean, mean * labels + prior, (1 - mean) * labels + prior, miss, down)

            x, y = (1 - r) * reach(p, downward), r * reach(q, not downward)
            both = 2 * r * (1 - r) * p * q / labels * Z * Z
            squares += size * size * (x * x + y * y + both) * (1 - labels / size)
        return ((1 - r) * part - r * rest) ** 2 - squares

    def end(far, downward):
        low, high = ratio, far
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if off(middle, downward) > 0 else (middle, high)
        return low

    return hold(ratio, end(0.0, True), end(1.0, False))


def paired_j(pairs):
    """J over pairs [(safe, toxic)]: the adjusted Wald interval, a pair of 1 and of -1 added."""
    if not pairs:
        return None
    d = np.array([t - s for s, t in pairs])
    padded = np.append(d, (1.0, -1.0))
    half = Z * padded.std() / math.sqrt(len(padded))
    return hold(d.mean(), padded.mean() - half, padded.mean() + half, -1, 1)


def detection(pairs):
    """d' and the criterion, with the log-linear correction and the delta method."""
    if len(pairs) < 2:
        return None, None
    n = len(pairs)
    s, t = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    ps, pt = (s.sum() + 0.5) / (n + 1), (t.sum() + 0.5) / (n + 1)
    zs, zt = stats.norm.ppf(ps), stats.norm.ppf(pt)
    # The added pair is each of the four outcomes a quarter of the time.
    s, t = np.append(s, (0, 0, 1, 1)), np.append(t, (0, 1, 0, 1))
    weight = np.append(np.ones(n), [0.25] * 4)
    pull_s, pull_t = (s - ps) / stats.norm.pdf(zs), (t - pt) / stats.norm.pdf(zt)

    def with_interval(value, pulls):
        half = t_of(n - 1) * math.sqrt((weight * pulls**2).sum()) / (n + 1)
        return value, value - half, value + half

    return with_interval(zt - zs, pull_t - pull_s), with_interval(-(zt + zs) / 2, -(pull_t + pull_s) / 2)


def auc(clusters):
    """The area under the ROC curve of [(safe scores, toxic scores)], with DeLong's components
    summed by cluster (Obuchowski)."""
    safe = [(x, i) for i, c in enumerate(clusters) for x in c[0]]
    toxic = [(x, i) for i, c in enumerate(clusters) for x in c[1]]
    if not safe or not toxic:
        return None
    x, y = np.array([v for v, _ in toxic]), np.array([v for v, _ in safe])
    wins = (x[:, None] > y[None, :]) + 0.5 * (x[:, None] == y[None, :])
    value = min(1.0, wins.mean())
    pull = np.zeros((2, len(clusters)))
    for side, (all_of, components) in enumerate(((toxic, wins.mean(1)), (safe, wins.mean(0)))):
        for (_, i), v in zip(all_of, components):
            pull[side, i] += v - value
    m, n, units = len(toxic), len(safe), len(clusters)
    with_toxic, with_safe = sum(bool(c[1]) for c in clusters), sum(bool(c[0]) for c in clusters)

    def of(total, count):
        return total * count / max(1, count - 1)

    variance = of((pull[0] ** 2).sum(), with_toxic) / m**2 + of((pull[1] ** 2).sum(), with_safe) / n**2 + 2 * of((pull[0] * pull[1]).sum(), units) / (m * n)
    return at_effective(value, variance if variance >= 1e-18 else 0.0, min(with_safe, with_toxic), with_safe + with_toxic)


def correlation(x, y, measure):
    """Spearman's, Pearson's or Kendall's coefficient; None where it is not defined."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    if measure == "pearson":
        return float(np.corrcoef(x, y)[0, 1])
    if measure == "spearman":
        return float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1])
    return float(stats.kendalltau(x, y).statistic)


def rare_rate(flagged, rest, effect):
    """A rate near 0, of strata of flagged answers [(size, mean, labels)] and of an audit of the
    others: Jeffreys' limits of prompts and flagged answers, Clopper and Pearson's of the rest."""
    n = rest[0] + sum(s[0] for s in flagged)
    found = sum(s[0] * s[1] for s in flagged) / n
    miss, prompts = (1 - LEVEL) / 2, n / max(1.0, effect)
    size, mean, labels = rest
    k = mean * labels

    def reach(downward):
        squares = beyond(found, found * prompts + 0.5, (1 - found) * prompts + 0.5, miss, downward) ** 2
        for s, m, drawn in flagged:
            if s > 0 and drawn < s:
                d = s / n * beyond(m, m * drawn + 0.5, (1 - m) * drawn + 0.5, miss, downward)
                squares += d * d * (1 - drawn / s)
        a, b = (k, labels - k + 1) if downward else (k + 1, labels - k)
        if labels < size and a > 0 and b > 0:
            squares += (size / n * beyond(mean, a, b, miss, downward)) ** 2
        return math.sqrt(squares)

    value = found + size / n * mean
    return value, max(0.0, value - reach(True)), min(1.0, value + reach(False))

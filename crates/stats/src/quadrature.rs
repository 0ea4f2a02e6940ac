//! Integrals of smooth functions over an interval, by the rule of Gauss and Legendre. It knows no statistics.

/// Nodes and weights on [−1, 1].
#[derive(Debug, Clone)]
pub(super) struct GaussLegendre(Vec<[f64; 2]>);

impl GaussLegendre {
    /// The rule with `n` ≥ 1 nodes: the roots x of Legendre's polynomial Pₙ, found by Newton's method from
    /// cos(π(i + ¾)/(n + ½)), with the weights 2/((1 − x²) Pₙ'(x)²) (Abramowitz & Stegun 1964, 25.4.29).
    pub(super) fn new(n: usize) -> Self {
        let node = |i: usize| {
            let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..10 {
                let (value, derivative) = legendre(n, x);
                slope = derivative;
                x -= value / derivative;
            }
            [x, 2.0 / ((1.0 - x * x) * slope * slope)]
        };
        Self((0..n).map(node).collect())
    }

    /// Nodes and weights on [low, high].
    pub(super) fn on(&self, low: f64, high: f64) -> impl Iterator<Item = [f64; 2]> {
        let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
        self.0.iter().map(move |[x, weight]| [middle + half * x, half * weight])
    }

    /// The integral of `f` from `low` to `high`; 0 if they are in the wrong order.
    pub(super) fn integral(&self, low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
        if low < high { self.on(low, high).map(|[x, weight]| weight * f(x)).sum() } else { 0.0 }
    }
}

/// Pₙ(x) and its derivative, for n ≥ 1 and |x| < 1.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 1..n {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
    }
    (value, n as f64 * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_exactly_and_others_closely() {
        for n in [1, 2, 5, 64, 301] {
            let rule = GaussLegendre::new(n);
            let degree = (2 * n - 1).min(41) as i32;
            let exact = 3f64.powi(degree + 1) / f64::from(degree + 1);
            let found = rule.integral(0.0, 3.0, |x| x.powi(degree));
            assert!((found / exact - 1.0).abs() < 1e-12, "{n}: {found}, not {exact}");
        }
        let found = GaussLegendre::new(64).integral(-8.0, 8.0, |x| (-x * x / 2.0).exp());
        assert!((found - std::f64::consts::TAU.sqrt()).abs() < 1e-12, "{found}");
    }
}

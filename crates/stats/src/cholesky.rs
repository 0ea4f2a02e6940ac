//! Linear equations with a symmetric positive definite matrix, by Cholesky's method: what least squares need. Matrices are
//! square and lie row by row.

/// Solves Ax = b. None if A is not positive definite, or not as large as b wants it.
pub fn solve(matrix: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let factor = Cholesky::of(matrix, right.len())?;
    Some(factor.solve(right))
}

/// The factor L of A = LLᵀ.
#[derive(Debug, Clone)]
pub struct Cholesky {
    n: usize,
    lower: Vec<f64>,
}

impl Cholesky {
    /// None if the matrix is not positive definite, or not of n rows.
    pub fn of(matrix: &[f64], n: usize) -> Option<Self> {
        if matrix.len() != n * n {
            return None;
        }
        let mut lower = matrix.to_vec();
        for column in 0..n {
            for row in column..n {
                let known = dot(&lower[row * n..row * n + column], &lower[column * n..column * n + column]);
                let rest = lower[row * n + column] - known;
                if row == column {
                    if rest.is_nan() || rest <= 0.0 {
                        return None;
                    }
                    lower[row * n + column] = rest.sqrt();
                } else {
                    lower[row * n + column] = rest / lower[column * n + column];
                }
            }
        }
        Some(Self { n, lower })
    }

    /// Solves Ax = b; b has n numbers.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = self.forward(right);
        for row in (0..self.n).rev() {
            let known: f64 = (row + 1..self.n).map(|below| self.lower[below * self.n + row] * x[below]).sum();
            x[row] = (x[row] - known) / self.lower[row * self.n + row];
        }
        x
    }

    /// L⁻¹x, for x of n numbers. The product of two of them is xᵀA⁻¹y.
    pub fn forward(&self, right: &[f64]) -> Vec<f64> {
        let mut x = right.to_vec();
        for row in 0..self.n {
            let known = dot(&self.lower[row * self.n..row * self.n + row], &x[..row]);
            x[row] = (x[row] - known) / self.lower[row * self.n + row];
        }
        x
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let x = solve(&matrix, &[1.0, -2.0, 3.0]).unwrap();
        for row in 0..3 {
            let right = dot(&matrix[3 * row..3 * row + 3], &x);
            assert!((right - [1.0, -2.0, 3.0][row]).abs() < 1e-12, "{x:?}");
        }
        let half = Cholesky::of(&matrix, 3).unwrap().forward(&[1.0, -2.0, 3.0]);
        let leverage = dot(&half, &half);
        assert!((leverage - dot(&x, &[1.0, -2.0, 3.0])).abs() < 1e-12, "{leverage}");
    }

    #[test]
    fn what_is_not_positive_definite_has_no_answer() {
        assert_eq!(solve(&[1.0, 2.0, 2.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(solve(&[0.0], &[1.0]), None);
        assert_eq!(solve(&[f64::NAN], &[1.0]), None);
        assert_eq!(solve(&[1.0], &[1.0, 1.0]), None);
    }
}

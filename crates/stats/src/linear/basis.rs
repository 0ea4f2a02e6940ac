//! Columns made orthonormal one after the other, and which of them could not be: the QR decomposition of a matrix that
//! may lack rank. It knows vectors only.
//!
//! Columns are taken in the order given and one that adds nothing to those before it is left out, as R's `lm` does;
//! a decomposition that pivots for the largest column would leave out main effects and keep interactions.

/// A column of length 1 whose rest is shorter than this depends on the others.
const DEPENDENT: f64 = 1e-9;

/// What a column gives to another one that depends on it; less is rounding.
const NOTHING: f64 = 1e-7;

/// The orthonormal columns so far, and every column taken, in their terms.
#[derive(Debug, Clone, Default)]
pub(super) struct Basis {
    /// Orthonormal columns.
    pub(super) orthonormal: Vec<Vec<f64>>,
    /// The columns that gave one each, by the order in which all were taken.
    pub(super) kept: Vec<usize>,
    /// Of every column taken: its coordinates over the orthonormal columns that there were by then.
    pub(super) coordinates: Vec<Vec<f64>>,
}

impl Basis {
    /// Takes columns in order. Each must be of length 1, or of length 0.
    pub(super) fn of(columns: impl IntoIterator<Item = Vec<f64>>) -> Self {
        let mut basis = Self::default();
        columns.into_iter().for_each(|column| basis.take(column));
        basis
    }

    /// The dimension of what the columns span.
    pub(super) fn rank(&self) -> usize {
        self.kept.len()
    }

    /// Modified Gram–Schmidt, twice, which is enough (Giraud, Langou & Rozložník 2005).
    fn take(&mut self, mut column: Vec<f64>) {
        let mut coordinates = self.project_out(&mut column);
        let length = norm(&column);
        if length > DEPENDENT {
            column.iter_mut().for_each(|x| *x /= length);
            let more = self.project_out(&mut column);
            coordinates.iter_mut().zip(more).for_each(|(c, m)| *c += length * m);
            let again = norm(&column);
            column.iter_mut().for_each(|x| *x /= again);
            coordinates.push(length * again);
            self.kept.push(self.coordinates.len());
            self.orthonormal.push(column);
        }
        self.coordinates.push(coordinates);
    }

    /// Leaves of `column` what is orthogonal to the basis, and returns its coordinates in the basis.
    pub(super) fn project_out(&self, column: &mut [f64]) -> Vec<f64> {
        let one = |q: &Vec<f64>| {
            let coordinate = dot(q, column);
            column.iter_mut().zip(q).for_each(|(x, q)| *x -= coordinate * q);
            coordinate
        };
        self.orthonormal.iter().map(one).collect()
    }

    /// z with R'z = `weights` of the kept columns: with it, the combination of their coefficients that has these
    /// weights is z · Q'y.
    pub(super) fn dual(&self, weights: &[f64]) -> Vec<f64> {
        let mut z: Vec<f64> = Vec::with_capacity(self.rank());
        for (column, weight) in self.kept.iter().zip(weights) {
            let known = dot(&self.coordinates[*column], &z);
            let own = self.coordinates[*column][z.len()];
            z.push((weight - known) / own);
        }
        z
    }

    /// The kept columns of which a column that was left out is a combination, by the order in which all were taken.
    fn depends_on(&self, left_out: usize) -> Vec<usize> {
        let mut rest = self.coordinates[left_out].clone();
        let mut members = Vec::new();
        for place in (0..rest.len()).rev() {
            let kept = &self.coordinates[self.kept[place]];
            let factor = rest[place] / kept[place];
            rest.iter_mut().zip(kept).for_each(|(r, k)| *r -= factor * k);
            if factor.abs() > NOTHING {
                members.push(self.kept[place]);
            }
        }
        members
    }

    /// For every column taken, the name of its circle: columns are in one circle if they appear together in a smallest
    /// set of columns that depend on each other (the components of the matroid; by Krogdahl 1977 those of the graph
    /// that ties every column left out to the kept ones it is made of).
    pub(super) fn circles(&self) -> Vec<usize> {
        let mut circle: Vec<usize> = (0..self.coordinates.len()).collect();
        for left_out in (0..circle.len()).filter(|column| !self.kept.contains(column)) {
            for member in self.depends_on(left_out) {
                let (from, to) = (circle[member], circle[left_out]);
                circle.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
            }
        }
        circle
    }
}

/// The scalar product, over as many places as both have.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The length of a vector.
pub(super) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

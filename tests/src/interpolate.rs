//! Interpolation in tetrahedra by trying all of them, in double precision, and random grids.

use crate::random::between;
use fastrand::Rng;
use ndarray::{Array2, Array4};

/// A structured grid, its nodes one by one.
#[derive(Clone, Debug)]
pub struct NodeGrid {
    /// `(z, y, x, 3)`.
    pub positions: Array4<f64>,
}

/// A lattice: nodes at `origin + i · steps[0] + j · steps[1] + k · steps[2]`.
#[derive(Clone, Debug)]
pub struct Lattice {
    /// Nodes along z, y and x.
    pub shape: [usize; 3],
    /// The first node.
    pub origin: [f64; 3],
    /// From node to node.
    pub steps: [[f64; 3]; 3],
    /// About the length of a step.
    pub cell: f64,
}

impl Lattice {
    /// Skewed steps of about `cell`, around a point at about `offset` from the origin.
    pub fn random(rng: &mut Rng, shape: [usize; 3], cell: f64, offset: f64) -> Self {
        let axes = {
            let mut axes = [0, 1, 2];
            rng.shuffle(&mut axes);
            axes
        };
        let steps = [0, 1, 2].map(|step: usize| {
            let mut vector = [0, 1, 2].map(|_| cell * between(rng, -0.25, 0.25));
            vector[axes[step]] = cell * between(rng, 0.7, 1.4) * if rng.bool() { 1.0 } else { -1.0 };
            vector
        });
        Self {
            shape,
            origin: [0, 1, 2].map(|_| offset * between(rng, -1.0, 1.0)),
            steps,
            cell,
        }
    }

    /// A place by parts of steps along x, y and z.
    pub fn at(&self, along: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|axis| {
            let way = along[0] * self.steps[0][axis] + along[1] * self.steps[1][axis] + along[2] * self.steps[2][axis];
            self.origin[axis] + way
        })
    }

    /// The nodes, each moved by up to `shift` of a step along axes of more than one node.
    pub fn nodes(&self, rng: &mut Rng, shift: f64) -> NodeGrid {
        let [n_z, n_y, n_x] = self.shape;
        let mut positions = Array4::zeros((n_z, n_y, n_x, 3));
        for k in 0..n_z {
            for j in 0..n_y {
                for i in 0..n_x {
                    let mut along = |index: usize, count: usize| {
                        let moved = if count > 1 { between(rng, -shift, shift) } else { 0.0 };
                        index as f64 + moved
                    };
                    let place = self.at([along(i, n_x), along(j, n_y), along(k, n_z)]);
                    for axis in 0..3 {
                        positions[[k, j, i, axis]] = place[axis];
                    }
                }
            }
        }
        NodeGrid { positions }
    }
}

/// Nodes with weights, and by how much of the tetrahedron the point is outside of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Node and weight.
    pub weights: Vec<(usize, f64)>,
    /// The least weight, or the negative of how far the point lies beside a surface or line.
    pub least: f64,
}

impl NodeGrid {
    /// Nodes along z, y and x.
    pub fn shape(&self) -> [usize; 3] {
        let (n_z, n_y, n_x, _) = self.positions.dim();
        [n_z, n_y, n_x]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A node's position.
    pub fn node(&self, number: usize) -> [f64; 3] {
        let [_, n_y, n_x] = self.shape();
        let at = [number / n_x / n_y, number / n_x % n_y, number % n_x];
        [0, 1, 2].map(|axis| self.positions[[at[0], at[1], at[2], axis]])
    }

    /// All nodes of all tetrahedra, or triangles or lines where axes have one node.
    pub fn simplices(&self) -> Vec<Vec<usize>> {
        const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let [n_z, n_y, n_x] = self.shape();
        let counts = [n_x, n_y, n_z];
        let steps = [1, n_x, n_x * n_y];
        let mut simplices = Vec::new();
        for k in 0..n_z.max(2) - 1 {
            for j in 0..n_y.max(2) - 1 {
                for i in 0..n_x.max(2) - 1 {
                    let mut paths: Vec<Vec<usize>> = Vec::new();
                    for order in ORDERS {
                        let mut path = vec![i + j * steps[1] + k * steps[2]];
                        for axis in order {
                            if counts[axis] > 1 {
                                path.push(path[path.len() - 1] + steps[axis]);
                            }
                        }
                        if !paths.contains(&path) {
                            paths.push(path);
                        }
                    }
                    simplices.extend(paths);
                }
            }
        }
        simplices
    }

    /// The simplex that a point is in, or misses least.
    pub fn locate(&self, simplices: &[Vec<usize>], point: [f64; 3]) -> Option<Found> {
        let mut best: Option<Found> = None;
        for simplex in simplices {
            let Some((weights, beside)) =
                barycentric(&simplex.iter().map(|n| self.node(*n)).collect::<Vec<_>>(), point)
            else {
                continue;
            };
            let least = weights.iter().copied().fold(f64::INFINITY, f64::min).min(-beside);
            if best.as_ref().is_none_or(|best| least > best.least) {
                let weights = simplex.iter().copied().zip(weights).collect();
                best = Some(Found { weights, least });
            }
        }
        best
    }

    /// A random point of a simplex; some of its weights are 0 where it is to be on the edge.
    pub fn point(&self, rng: &mut Rng, simplex: &[usize], is_at_edge: bool) -> [f64; 3] {
        let mut weights: Vec<f64> = simplex.iter().map(|_| between(rng, 0.01, 1.0)).collect();
        if is_at_edge && simplex.len() > 1 {
            let at = rng.usize(..simplex.len());
            weights[at] = 0.0;
        }
        let sum: f64 = weights.iter().sum();
        let first = self.node(simplex[0]);
        [0, 1, 2].map(|axis| {
            let way = simplex.iter().zip(&weights);
            first[axis]
                + way
                    .map(|(n, w)| w / sum * (self.node(*n)[axis] - first[axis]))
                    .sum::<f64>()
        })
    }

    /// Random points inside.
    pub fn points(&self, rng: &mut Rng, count: usize) -> Array2<f64> {
        let simplices = self.simplices();
        let points: Vec<[f64; 3]> = (0..count)
            .map(|_| {
                let simplex = &simplices[rng.usize(..simplices.len())];
                self.point(rng, simplex, false)
            })
            .collect();
        points.into()
    }
}

/// Weights of a point in a simplex by least squares, and its distance beside it in units of the first edge; nothing for a
/// flat one.
fn barycentric(corners: &[[f64; 3]], point: [f64; 3]) -> Option<(Vec<f64>, f64)> {
    let minus = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let way = minus(point, corners[0]);
    // Gram and Schmidt twice over: edges at right angles, and the triangle that makes the edges of them.
    let edges: Vec<[f64; 3]> = corners[1..].iter().map(|corner| minus(*corner, corners[0])).collect();
    let n = edges.len();
    let mut basis: Vec<[f64; 3]> = Vec::new();
    let mut upper = vec![vec![0.0; n]; n];
    for (column, edge) in edges.iter().enumerate() {
        let mut rest = *edge;
        for _ in 0..2 {
            for (row, vector) in basis.iter().enumerate() {
                let part = dot(*vector, rest);
                upper[row][column] += part;
                rest = minus(rest, vector.map(|x| x * part));
            }
        }
        let length = dot(rest, rest).sqrt();
        if length <= 1e-9 * dot(*edge, *edge).sqrt() {
            return None;
        }
        upper[column][column] = length;
        basis.push(rest.map(|x| x / length));
    }
    let mut rest = way;
    let mut right = vec![0.0; n];
    for _ in 0..2 {
        for (row, vector) in basis.iter().enumerate() {
            let part = dot(*vector, rest);
            right[row] += part;
            rest = minus(rest, vector.map(|x| x * part));
        }
    }
    let mut weights = vec![0.0; n + 1];
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n)
            .map(|column| upper[row][column] * weights[column + 1])
            .sum();
        weights[row + 1] = (right[row] - known) / upper[row][row];
    }
    weights[0] = 1.0 - weights[1..].iter().sum::<f64>();
    let unit = edges.first().map_or(1.0, |edge| dot(*edge, *edge).sqrt());
    let beside = if n == 3 { 0.0 } else { dot(rest, rest).sqrt() / unit };
    Some((weights, beside))
}

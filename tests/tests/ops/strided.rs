//! Views of random shapes and strides, and the same elements found by plain loops.

use crate::values::Value;
use fastrand::Rng;
use ndarray::{ArrayD, IxDyn};
use warpbeam::{Backend, Tensor, TensorView};

/// A dense tensor, and how a view of it is made.
pub(crate) struct Strided<T: Value> {
    tensor: Tensor<T>,
    steps: Vec<Step>,
    /// What the view holds.
    pub(crate) expected: ArrayD<T>,
}

#[derive(Clone, Debug)]
enum Step {
    Permute(Vec<usize>),
    Invert(usize),
    Slice(usize, std::ops::Range<usize>, usize),
    Broadcast(Vec<usize>),
}

/// The numbers along every axis of the element with that number in row-major order.
pub(crate) fn place(shape: &[usize], mut number: usize) -> Vec<usize> {
    let mut place = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        place[axis] = number % shape[axis];
        number /= shape[axis];
    }
    place
}

/// An array of `shape` by a function of the place.
pub(crate) fn by_place<T: Value>(shape: &[usize], element: impl Fn(&[usize]) -> T) -> ArrayD<T> {
    let count = shape.iter().product();
    let elements = (0..count).map(|number| element(&place(shape, number))).collect();
    ArrayD::from_shape_vec(IxDyn(shape), elements).expect("as many as the shape says")
}

/// A random shape of at most 8 axes and about `most` elements.
pub(crate) fn random_shape(rng: &mut Rng, most: usize) -> Vec<usize> {
    let mut shape = Vec::new();
    for _ in 0..rng.usize(1..=8) {
        let left = (most / shape.iter().product::<usize>()).max(1);
        let longest = [2, 3, 7, 40, 300][rng.usize(..5)].min(left);
        shape.push(rng.usize(1..=longest));
    }
    shape
}

impl<T: Value> Strided<T> {
    /// Random elements behind some random steps.
    pub(crate) fn random(backend: &Backend, rng: &mut Rng, most: usize) -> Self {
        let shape = random_shape(rng, most);
        Self::of_shape(backend, rng, &shape)
    }

    /// As [`Strided::random`], from a dense tensor of that shape.
    pub(crate) fn of_shape(backend: &Backend, rng: &mut Rng, shape: &[usize]) -> Self {
        let dense = by_place(shape, |_| T::stale()).map(|_| T::random(rng));
        let tensor = Tensor::from_array(backend, &dense).expect("room for the tensor");
        let mut strided = Self {
            tensor,
            steps: Vec::new(),
            expected: dense,
        };
        for _ in 0..rng.usize(..5) {
            strided.step(rng);
        }
        strided
    }

    /// As [`Strided::of_shape`], behind steps that end with that shape: some axes backward, some of every other position.
    pub(crate) fn keeping(backend: &Backend, rng: &mut Rng, shape: &[usize], number: impl Fn(&mut Rng) -> T) -> Self {
        let steps: Vec<usize> = shape.iter().map(|_| [1, 1, 1, 2, 3][rng.usize(..5)]).collect();
        let longer: Vec<usize> = shape.iter().zip(&steps).map(|(&length, step)| length * step).collect();
        let dense = by_place(&longer, |_| T::stale()).map(|_| number(rng));
        let mut strided = Self {
            tensor: Tensor::from_array(backend, &dense).expect("room for the tensor"),
            steps: Vec::new(),
            expected: dense,
        };
        for (axis, step) in steps.into_iter().enumerate() {
            let backward = rng.u8(..4) == 0;
            let last = longer[axis].saturating_sub(1);
            if backward {
                strided.steps.push(Step::Invert(axis));
            }
            strided.steps.push(Step::Slice(axis, 0..longer[axis], step));
            let old = strided.expected;
            let mut new = old.shape().to_vec();
            new[axis] = shape[axis];
            strided.expected = by_place(&new, |place| {
                let mut from = place.to_vec();
                from[axis] = step * place[axis];
                if backward {
                    from[axis] = last - from[axis];
                }
                old[&from[..]]
            });
        }
        strided
    }

    fn step(&mut self, rng: &mut Rng) {
        let old = self.expected.clone();
        let shape = old.shape().to_vec();
        let axis = rng.usize(..shape.len());
        let step = match rng.u8(..8) {
            0..=3 => {
                let mut order: Vec<usize> = (0..shape.len()).collect();
                rng.shuffle(&mut order);
                let new: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
                self.expected = by_place(&new, |place| {
                    let mut from = vec![0; place.len()];
                    order.iter().zip(place).for_each(|(&axis, &at)| from[axis] = at);
                    old[&from[..]]
                });
                Step::Permute(order)
            }
            4 | 5 => {
                self.expected = by_place(&shape, |place| {
                    let mut from = place.to_vec();
                    from[axis] = shape[axis] - 1 - place[axis];
                    old[&from[..]]
                });
                Step::Invert(axis)
            }
            6 => {
                let start = rng.usize(..shape[axis]);
                let end = rng.usize(start + 1..=shape[axis]);
                let step = rng.usize(1..=3);
                let mut new = shape.clone();
                new[axis] = (end - start).div_ceil(step);
                self.expected = by_place(&new, |place| {
                    let mut from = place.to_vec();
                    from[axis] = start + step * place[axis];
                    old[&from[..]]
                });
                Step::Slice(axis, start..end, step)
            }
            _ => {
                let mut new = shape.clone();
                if let Some(single) = new.iter().position(|&length| length == 1) {
                    new[single] = rng.usize(2..=4);
                }
                self.expected = by_place(&new, |place| {
                    let from: Vec<_> = place
                        .iter()
                        .zip(&shape)
                        .map(|(&at, &length)| at.min(length - 1))
                        .collect();
                    old[&from[..]]
                });
                Step::Broadcast(new)
            }
        };
        self.steps.push(step);
    }

    /// What was done, for a message.
    pub(crate) fn what(&self) -> String {
        format!("shape {:?} by {:?}", self.tensor.shape(), self.steps)
    }

    pub(crate) fn view(&self) -> TensorView<'_, T> {
        self.steps.iter().fold(self.tensor.view(), |view, step| {
            match step {
                Step::Permute(order) => view.permuted_axes(order),
                Step::Invert(axis) => view.inverted_axis(*axis),
                Step::Slice(axis, range, step) => view.sliced(*axis, range.clone(), *step),
                Step::Broadcast(shape) => view.broadcast(shape),
            }
            .expect("a good step")
        })
    }
}

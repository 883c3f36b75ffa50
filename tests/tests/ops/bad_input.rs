//! Bad input is refused by name and value.

use ndarray::Array1;
use warpbeam::ops::{
    Indices, ScatterPlan, contiguous_copy, contiguous_copy_into, gather, gather_into, scatter_add_into, scatter_into,
};
use warpbeam::{Backend, Error, Tensor};

fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.to_string(),
    }
}

fn views(backend: &Backend) {
    let tensor = Tensor::<f32>::zeros(backend, &[2, 3]).unwrap();
    let view = || tensor.view();
    assert_eq!(
        message(view().permuted_axes(&[0, 0])),
        "[0, 0] is no order of 2 axes; each number from 0 to below 2 must stand in it once"
    );
    assert!(message(view().permuted_axes(&[0])).contains("[0] is no order of 2 axes"));
    assert_eq!(
        message(view().inverted_axis(2)),
        "there is no axis 2 in shape [2, 3]; axes are counted from 0 to below 2"
    );
    assert_eq!(
        message(view().sliced(1, 1..4, 1)),
        "1..4 is no range of axis 1, which has 3 positions; it must begin before it ends, at 3 at most"
    );
    let backward = std::ops::Range { start: 2, end: 1 };
    assert!(message(view().sliced(1, backward, 1)).contains("2..1 is no range of axis 1"));
    assert_eq!(
        message(view().sliced(1, 0..3, 0)),
        "the step of a slice is 0; it must be at least 1"
    );
    assert_eq!(
        message(view().broadcast(&[2, 4])),
        "the shape to broadcast to has shape [2, 4]; expected [2, 3]"
    );
    assert!(message(view().broadcast(&[3])).contains("[3]"));
    assert!(message(view().broadcast(&[usize::MAX, 2, 3])).contains("more elements"));
    // What is at the edge is good.
    let nothing = view().sliced(1, 3..3, usize::MAX).unwrap();
    assert_eq!(nothing.shape(), [2, 0]);
    let one = view().sliced(1, 1..3, usize::MAX).unwrap();
    assert_eq!(one.shape(), [2, 1]);
}

fn copies(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let tensor = Tensor::<f32>::zeros(backend, &[2, 3]).unwrap();
    let mut other = Tensor::<f32>::zeros(backend, &[3, 2]).unwrap();
    assert_eq!(
        message(contiguous_copy_into(&tensor, &mut other, &stream)),
        "the output has shape [3, 2]; expected [2, 3]"
    );
    let deep = tensor.view().broadcast(&[1, 1, 1, 1, 1, 1, 1, 2, 3]).unwrap();
    assert!(message(contiguous_copy(deep, &stream)).contains("expected at most 8 axes"));
}

fn indices(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let new = |places: &[i32], length| Indices::new(backend, &Array1::from(places.to_vec()), length);
    let there = |places: &[i32], length| {
        let tensor = Tensor::from_array(backend, &Array1::from(places.to_vec())).unwrap();
        Indices::from_tensor(tensor, length, &stream)
    };
    let mut many: Vec<i32> = (0..5000).map(|place| place % 7).collect();
    many[4321] = 7;
    many[4400] = -2;
    for refused in [new(&many, 7), there(&many, 7)] {
        assert_eq!(
            message(refused),
            "the index at position 4321 is 7; it must be from 0 to below 7, the length of its axis"
        );
    }
    assert!(message(there(&[0, -1, 9], 3)).contains("position 1 is -1"));
    assert!(message(new(&[0], 0)).contains("from 0 to below 0"));
    let matrix = Tensor::<i32>::zeros(backend, &[2, 3]).unwrap();
    assert_eq!(
        message(Indices::from_tensor(matrix, 3, &stream)),
        "the indices has shape [2, 3]; expected one axis"
    );
    assert_eq!(new(&[], 0).unwrap().len(), 0);
}

fn rows(backend: &Backend) {
    let stream = backend.stream().unwrap();
    let tensor = Tensor::<f32>::zeros(backend, &[2, 3]).unwrap();
    let indices = Indices::new(backend, &ndarray::arr1(&[0, 2, 2, 1]), 3).unwrap();
    let plan = ScatterPlan::new(&indices).unwrap();
    assert_eq!(
        message(gather(&tensor, 0, &indices, &stream)),
        "the tensor to gather from has shape [2, 3]; expected [3, 3]"
    );
    assert!(message(gather(&tensor, 2, &indices, &stream)).contains("no axis 2 in shape [2, 3]"));
    let mut output = Tensor::<f32>::zeros(backend, &[2, 3]).unwrap();
    assert_eq!(
        message(gather_into(&tensor, 1, &indices, &mut output, &stream)),
        "the output has shape [2, 3]; expected [2, 4]"
    );
    assert_eq!(
        message(scatter_into(&tensor, 1, &plan, &mut output, &stream)),
        "the tensor to scatter has shape [2, 3]; expected [2, 4]"
    );
    let wide = Tensor::<f32>::zeros(backend, &[2, 4]).unwrap();
    let mut wrong = Tensor::<f32>::zeros(backend, &[2, 4]).unwrap();
    for refused in [
        scatter_into(&wide, 1, &plan, &mut wrong, &stream),
        scatter_add_into(&wide, 1, &plan, &mut wrong, &stream),
    ] {
        assert_eq!(message(refused), "the output has shape [2, 4]; expected [2, 3]");
    }
    scatter_into(&wide, 1, &plan, &mut output, &stream).unwrap();
}

integration_tests::on_every_backend! {
    views: super::views;
    copies: super::copies;
    indices: super::indices;
    rows: super::rows;
}

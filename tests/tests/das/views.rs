//! Arrays with any strides: the image of a view is the image of its contiguous copy, bit by bit.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::Case;
use integration_tests::random::rng;
use integration_tests::run::run_into;
use integration_tests::sample::TestSample;
use ndarray::{Array, Array4, ArrayView4, Axis, Ix4, ShapeBuilder, s};
use num_complex::Complex64;
use warpbeam::{Backend, ChannelLayout, DasOptions, DasPlan};

/// Data in memory as it may come: a name, an owner, and how to look at it.
type Stored<T> = (&'static str, Array4<T>, fn(&Array4<T>) -> ArrayView4<'_, T>);

/// The same data, stored in other orders and among other things.
fn stored<T: TestSample>(data: &Array4<T>) -> Vec<Stored<T>> {
    let filler = T::nan().unwrap_or(T::nearest(Complex64::new(9e3, 9e3)));
    let (b, m, q, k) = data.dim();
    let mut fortran = Array::from_elem((b, m, q, k).f(), filler);
    fortran.assign(data);
    let mut sample_first = Array::from_elem((k, q, m, b), filler);
    sample_first.assign(&data.view().reversed_axes());
    let mut batch_last = Array::from_elem((m, q, k, b), filler);
    batch_last.assign(&data.view().permuted_axes([1, 2, 3, 0]));
    let mut sparse: Array<T, Ix4> = Array::from_elem((2 * b, 2 * m, 2 * q, 2 * k), filler);
    sparse.slice_mut(s![..;2, 1..;2, ..;2, 1..;2]).assign(data);
    let mut backward = Array::from_elem((b, m, q, k), filler);
    backward.assign(&data.slice(s![..;-1, ..;-1, ..;-1, ..;-1]));
    let mut framed = Array::from_elem((b + 2, m + 1, q + 2, k + 3), filler);
    framed.slice_mut(s![1..=b, 1.., 1..=q, 2..k + 2]).assign(data);
    vec![
        ("fortran order", fortran, |a| a.view()),
        ("reversed axes", sample_first, |a| a.view().reversed_axes()),
        ("batch innermost", batch_last, |a| a.view().permuted_axes([3, 0, 1, 2])),
        ("every second", sparse, |a| a.slice(s![..;2, 1..;2, ..;2, 1..;2])),
        ("negative strides", backward, |a| {
            a.slice(s![..;-1, ..;-1, ..;-1, ..;-1])
        }),
        ("inside a larger array", framed, |a| {
            let (b, _, q, k) = a.dim();
            a.slice(s![1..b - 1, 1.., 1..q - 1, 2..k - 1])
        }),
    ]
}

fn strides<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    for layout in [ChannelLayout::ChannelTransmit, ChannelLayout::TransmitChannel] {
        let options = DasOptions {
            layout,
            ..DasOptions::default()
        };
        let case = Case {
            batch: 2,
            channels: 3,
            transmits: 4,
            samples: 85,
            options,
            ..Case::default()
        };
        let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
        let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
        let data = case.data::<T>(&mut rng);
        let image = plan.run(data.view()).unwrap();
        for (name, owner, look) in stored(&data) {
            let view = look(&owner);
            assert_same_bits(name, &plan.run(view).unwrap(), &image);
            assert_same_bits(name, &plan.run(view.into_dyn()).unwrap(), &image);
            // Without the batch axis.
            let frame = plan.run(view.index_axis(Axis(0), 1)).unwrap();
            assert_same_bits(name, &frame, &image.index_axis(Axis(0), 1).to_owned());
        }
    }
}

/// One frame, one channel or one transmit broadcast over its axis.
fn broadcast<T: TestSample>(backend: &Backend) {
    let mut rng = rng();
    let case = Case {
        batch: 9,
        channels: 5,
        transmits: 4,
        ..Case::default()
    };
    let (geometry, _) = case.geometry(&mut rng, T::PRECISION);
    let plan = DasPlan::<T>::new(backend, &geometry, &case.options).unwrap();
    let data = case.data::<T>(&mut rng);
    for axis in 0..3 {
        let one = data.index_axis(Axis(axis), 0).insert_axis(Axis(axis));
        let wide = one.broadcast(data.dim()).unwrap();
        let copy = wide.as_standard_layout().into_owned();
        let image = plan.run(copy.view()).unwrap();
        assert_same_bits("broadcast", &plan.run(wide).unwrap(), &image);
        assert_same_bits(
            "broadcast, uploaded",
            &run_into(backend, &plan, &wide.to_owned(), &image, 7.0),
            &image,
        );
    }
}

/// Geometry with any strides.
fn geometry_strides(backend: &Backend) {
    let mut rng = rng();
    let case = Case {
        cosine_bound: Some(0.2),
        elements: integration_tests::case::Elements::Free,
        ..Case::default()
    };
    let (geometry, _) = case.geometry(&mut rng, f32::PRECISION);
    let data = case.data::<f32>(&mut rng);
    let image = DasPlan::<f32>::new(backend, &geometry, &case.options)
        .unwrap()
        .run(data.view())
        .unwrap();
    let mut other = geometry.clone();
    other.element_positions = fortran(&geometry.element_positions);
    other.voxel_positions = fortran(&geometry.voxel_positions);
    other.transmit_offsets = fortran(&geometry.transmit_offsets);
    other.transmit_weights = fortran(&geometry.transmit_weights);
    other.element_normals = geometry.element_normals.as_ref().map(fortran);
    let mut bounds = geometry.element_cosine_bounds.unwrap();
    bounds.as_slice_mut().unwrap().reverse();
    bounds.invert_axis(Axis(0));
    other.element_cosine_bounds = Some(bounds);
    let got = DasPlan::<f32>::new(backend, &other, &case.options)
        .unwrap()
        .run(data.view())
        .unwrap();
    assert_same_bits("geometry in other orders", &got, &image);
}

fn fortran<D: ndarray::Dimension>(array: &Array<f64, D>) -> Array<f64, D> {
    let mut copy = Array::zeros(array.raw_dim().f());
    copy.assign(array);
    copy
}

integration_tests::on_every_backend! {
    geometry_strides: super::geometry_strides;
}

integration_tests::on_every_backend_and_type! {
    strides;
    broadcast;
}

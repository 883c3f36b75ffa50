//! Free points: their image is that of the same points in another order, bit by bit, whatever order a device takes them in.

use integration_tests::bits::assert_same_bits;
use integration_tests::case::Case;
use integration_tests::on_every_backend;
use integration_tests::random::rng;
use integration_tests::sample::TestSample;
use ndarray::Axis;
use warpbeam::{Algorithm, Backend, DasGeometry, DasOptions, DasPlan};

/// The geometry with its voxels, of one axis, in another order.
fn ordered(geometry: &DasGeometry, order: &[usize]) -> DasGeometry {
    DasGeometry {
        voxel_positions: geometry.voxel_positions.select(Axis(0), order),
        transmit_offsets: geometry.transmit_offsets.select(Axis(1), order),
        transmit_weights: geometry.transmit_weights.select(Axis(1), order),
        ..geometry.clone()
    }
}

fn points_in_another_order(backend: &Backend) {
    let mut rng = rng();
    for n_voxels in [1, 2, 3000] {
        let options = DasOptions {
            algorithm: Algorithm::Voxel,
            ..DasOptions::default()
        };
        let case = Case {
            batch: 3,
            channels: 5,
            transmits: 2,
            samples: 200,
            grid: vec![n_voxels],
            options,
            ..Case::default()
        };
        let (geometry, _) = case.geometry(&mut rng, f32::PRECISION);
        let data = case.data::<f32>(&mut rng);
        let mut order: Vec<usize> = (0..n_voxels).collect();
        rng.shuffle(&mut order);
        let image = |geometry: &DasGeometry| {
            let plan = DasPlan::<f32>::new(backend, geometry, &case.options).unwrap();
            plan.run(data.view()).unwrap()
        };
        let expected = image(&geometry).select(Axis(1), &order);
        assert!(n_voxels < 3000 || expected.iter().any(|value| *value != 0.0));
        assert_same_bits(
            "points in another order",
            &image(&ordered(&geometry, &order)),
            &expected,
        );
    }
}

on_every_backend! {
    points_in_another_order: super::points_in_another_order;
}

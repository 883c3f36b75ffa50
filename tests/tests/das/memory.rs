//! What a plan says beforehand of the memory that it needs.

use integration_tests::case::Case;
use integration_tests::random::rng;
use num_complex::Complex32;
use warpbeam::{Algorithm, Backend, DasPlan, SumOver};

fn said_beforehand(backend: &Backend) {
    let mut case = Case {
        batch: 13,
        grid: vec![10, 20],
        ..Case::default()
    };
    case.options.algorithm = Algorithm::Batch;
    case.options.sum_over = SumOver::Channels;
    let geometry = case.draw(&mut rng());
    let plan = DasPlan::<Complex32>::new(backend, &geometry, &case.options).unwrap();
    let memory = plan.memory(case.batch, case.samples).unwrap();
    println!("{memory:?}");
    let samples = case.batch * case.channels * case.transmits * case.samples;
    assert_eq!(memory.data_bytes, 8 * samples as u64);
    assert_eq!(memory.output_bytes, (8 * case.batch * case.transmits * 200) as u64);
    assert!(memory.geometry_bytes >= 4 * 200 * (3 + 2 * 3) && memory.geometry_bytes <= 4 * 200 * (4 + 2 * 3));
    // The copy of 13 items is padded to a vector, and on the CPU, which copies a transmit at a time, to a row of lanes.
    let copied_at_a_time = memory.data_bytes / if backend.is_cuda() { 1 } else { case.transmits as u64 };
    assert!(memory.copy_bytes >= copied_at_a_time && memory.copy_bytes < 2 * copied_at_a_time);
    assert!(plan.memory(1, 1).is_err());
}

integration_tests::on_every_backend! {
    said_beforehand: super::said_beforehand;
}

//! Times the CPU backend on the rotating disk, for comparison with a peer in the same run.
//!
//! `time_disk RUNS` prints one JSON object: milliseconds of each of the runs, all 32 frames at once from a host array to
//! a host array, of two plans, and the relative L2 distance of the first four frames from `PyMUST`'s images.

use integration_tests::rotating_disk::Disk;
use std::time::Instant;
use warpbeam::Backend;

fn main() {
    let runs = std::env::args()
        .nth(1)
        .map_or(5, |text| text.parse().expect("a number of runs"));
    let disk = Disk::find().expect("PWI_disk.mat and pwi_disk_pymust.npz in the folder that WARPBEAM_TEST_DATA names");
    let backend = Backend::cpu();
    let iq = disk.demodulate();
    let timed_plan = || {
        let start = Instant::now();
        let plan = disk.plan(&backend);
        (plan, start.elapsed().as_secs_f64() * 1e3)
    };
    let (plan, first) = timed_plan();
    let (_, second) = timed_plan();
    let image = plan.run(iq.view()).expect("the data fit the plan");
    let milliseconds: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            plan.run(iq.view()).expect("the data fit the plan");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    println!(
        "{{\"milliseconds\": {milliseconds:?}, \"plan_milliseconds\": {:?}, \"distance_from_pymust\": {:e}}}",
        [first, second],
        disk.distance_from_peer(&image, 0..4),
    );
}

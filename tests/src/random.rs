//! Random numbers with a seed that a failed run prints.

use fastrand::Rng;

/// A generator whose seed is the environment's `WARPBEAM_TEST_SEED`, or the clock's; prints it.
///
/// # Panics
///
/// Where `WARPBEAM_TEST_SEED` is no number.
pub fn rng() -> Rng {
    let seed = match std::env::var("WARPBEAM_TEST_SEED") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("WARPBEAM_TEST_SEED is {text:?}, not a whole number")),
        Err(_) => Rng::new().u64(..),
    };
    println!("seed {seed} (WARPBEAM_TEST_SEED={seed} repeats this run)");
    Rng::with_seed(seed)
}

/// Uniform between two numbers.
pub fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.f64()
}

/// A random unit vector in the half-space around +z, at most `angle` radians from it.
pub fn normal_within(rng: &mut Rng, angle: f64) -> [f64; 3] {
    let polar = angle * rng.f64();
    let azimuth = std::f64::consts::TAU * rng.f64();
    [polar.sin() * azimuth.cos(), polar.sin() * azimuth.sin(), polar.cos()]
}

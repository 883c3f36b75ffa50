//! Feeds the probes, on any machine, and says how their words are to be compared.

use super::{
    MEMORY_BYTES, NUMBER_THREADS, NUMBER_WORDS, THREADS, TILE_HALVES, WARP_WORDS, Words, probe_atomic, probe_memory,
    probe_number, probe_warp, probe_wmma, sm_80, sm_90a,
};
use cuda_std::emulator::Machine;
use cuda_std::half::F16;
use cuda_std::{Kernel, Launch};

/// When two words count as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Equality {
    /// All bits are the same.
    Bits,
    /// All bits are the same, or both are NaN in single precision.
    Float,
    /// Two numbers in single precision differ by at most so much.
    Within {
        /// Of the larger magnitude.
        relative: f64,
        /// In addition.
        absolute: f64,
    },
}

/// What a probe read and wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The probe, and which input it had.
    pub name: &'static str,
    /// The words that it read.
    pub input: Vec<u32>,
    /// The words that it wrote.
    pub output: Vec<u32>,
    /// How to compare word i of the output: as the entry i modulo the length.
    pub equality: Vec<Equality>,
}

impl Outcome {
    /// The largest difference as a part of what is allowed.
    ///
    /// # Errors
    ///
    /// The first word that differs by more, and what both have.
    pub fn compare(&self, other: &[u32]) -> Result<f64, String> {
        if self.output.len() != other.len() {
            return Err(format!("{}: {} words and {}", self.name, self.output.len(), other.len()));
        }
        let mut worst = 0.0_f64;
        for (index, (&mine, &theirs)) in self.output.iter().zip(other).enumerate() {
            let (x, y) = (f64::from(f32::from_bits(mine)), f64::from(f32::from_bits(theirs)));
            let equality = self.equality[index % self.equality.len()];
            let ratio = match equality {
                _ if mine == theirs => 0.0,
                Equality::Float if x.is_nan() && y.is_nan() => 0.0,
                Equality::Bits | Equality::Float => f64::INFINITY,
                Equality::Within { relative, absolute } => {
                    (x - y).abs() / (relative * x.abs().max(y.abs()) + absolute)
                }
            };
            if ratio.is_nan() || ratio > 1.0 {
                return Err(format!(
                    "{}: word {index} is {mine:#010x} ({x:e}) and {theirs:#010x} ({y:e}), to be equal by {equality:?}",
                    self.name
                ));
            }
            worst = worst.max(ratio);
        }
        Ok(worst)
    }
}

/// A generator of test words (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 32)) as u32
    }

    fn words(&mut self, count: usize) -> Vec<u32> {
        (0..count).map(|_| self.word()).collect()
    }

    /// From −1 to below 1.
    fn float(&mut self) -> f32 {
        self.word() as i32 as f32 / 2_147_483_648.0
    }

    /// From −7 to 7.
    fn whole(&mut self) -> f32 {
        (self.word() % 15) as f32 - 7.0
    }
}

fn half(value: f32) -> u32 {
    u32::from(F16::from_f32(value).0)
}

/// A probe's launch.
struct Shape {
    blocks: u32,
    threads: u32,
    shared_bytes: u32,
    output_words: u32,
}

fn run<M: Machine>(
    machine: &M,
    name: &'static str,
    kernel: &Kernel<Words>,
    shape: &Shape,
    input: Vec<u32>,
    initial: u32,
    equality: &[Equality],
) -> Result<Outcome, M::Error> {
    let (from, to) = (
        machine.memory(&input)?,
        machine.memory(&vec![initial; shape.output_words as usize])?,
    );
    let words = Words {
        input: machine.global(&from),
        output: machine.global_mut(&to),
    };
    let launch = Launch {
        grid: [shape.blocks, 1, 1],
        threads: shape.threads,
        shared_bytes: shape.shared_bytes,
    };
    machine.launch(kernel, launch, words)?;
    Ok(Outcome {
        name,
        input,
        output: machine.read(&to)?,
        equality: equality.to_vec(),
    })
}

/// What stands where a probe must write.
const UNWRITTEN: u32 = 0x7fc0_dead;

/// The probes that run on every device.
///
/// # Errors
///
/// The machine's.
pub fn outcomes<M: Machine>(machine: &M) -> Result<Vec<Outcome>, M::Error> {
    let mut random = Random(1);
    let blocks = 3;
    let shape = Shape {
        blocks,
        threads: THREADS,
        shared_bytes: 0,
        output_words: blocks * THREADS * WARP_WORDS,
    };
    let input = random.words((blocks * THREADS) as usize);
    let warp = run(machine, "probe_warp", &probe_warp, &shape, input, UNWRITTEN, &[Equality::Bits])?;
    let shape = Shape {
        blocks: 1,
        shared_bytes: MEMORY_BYTES,
        output_words: MEMORY_BYTES / 4,
        ..shape
    };
    let input = random.words((MEMORY_BYTES / 4) as usize);
    let memory = run(machine, "probe_memory", &probe_memory, &shape, input, UNWRITTEN, &[Equality::Bits])?;
    let blocks = 5;
    let shape = Shape {
        blocks,
        shared_bytes: 16,
        output_words: 16 + 4 * blocks,
        ..shape
    };
    let input = random.words((blocks * THREADS) as usize);
    let mut atomic = run(machine, "probe_atomic", &probe_atomic, &shape, input, 0, &[Equality::Bits])?;
    // Which word stays depends on the order of threads, but not the sum of what came out and what stayed.
    atomic.output[8] = atomic.output[8].wrapping_add(atomic.output[7]);
    atomic.output[7] = 0;
    Ok(vec![
        warp,
        memory,
        atomic,
        number(machine, "probe_number, every half", (0..=0xffff).collect())?,
        number(machine, "probe_number, random", numbers(&mut random))?,
        wmma(machine, "probe_wmma, whole numbers", || half(random.whole()), Equality::Bits)?,
        // Two products of 16 terms below 1, added up: 32 roundings of sums below 32 on either side.
        wmma(machine, "probe_wmma, random", || half(random.float()), within(32.0 * 32.0))?,
    ])
}

/// At most `roundings` times the spacing of single precision below 1, and half of that for the emulator.
fn within(roundings: f64) -> Equality {
    Equality::Within {
        relative: 0.0,
        absolute: 1.5 * roundings * f64::from(f32::EPSILON),
    }
}

/// Numbers of many magnitudes, and ties of the conversion to halves.
fn numbers(random: &mut Random) -> Vec<u32> {
    let mut numbers = Vec::new();
    for exponent in -30..=20 {
        for _ in 0..64 {
            numbers.push((random.float() * 2.0_f32.powi(exponent)).to_bits());
        }
    }
    for bits in (0..0x7c00).step_by(31) {
        // Halfway between two halves: exact in single precision.
        let tie = f32::midpoint(F16(bits).to_f32(), F16(bits + 1).to_f32());
        numbers.extend([tie.to_bits(), (-tie).to_bits()]);
    }
    numbers.resize(numbers.len().next_multiple_of(NUMBER_THREADS as usize), 0);
    numbers
}

fn number<M: Machine>(machine: &M, name: &'static str, input: Vec<u32>) -> Result<Outcome, M::Error> {
    let threads = input.len() as u32;
    let shape = Shape {
        blocks: threads / NUMBER_THREADS,
        threads: NUMBER_THREADS,
        shared_bytes: 0,
        output_words: threads * NUMBER_WORDS,
    };
    let mut equality = [Equality::Bits; NUMBER_WORDS as usize];
    equality[0] = Equality::Float;
    // Within a unit in the last place, and numbers below the least normal one are none to the device.
    equality[8] = Equality::Within {
        relative: 2.0 * f64::from(f32::EPSILON),
        absolute: 1.1e-19,
    };
    equality[9..].fill(Equality::Within {
        relative: 0.0,
        absolute: 1e-6,
    });
    run(machine, name, &probe_number, &shape, input, UNWRITTEN, &equality)
}

fn wmma<M: Machine>(
    machine: &M,
    name: &'static str,
    mut half: impl FnMut() -> u32,
    equality: Equality,
) -> Result<Outcome, M::Error> {
    let input = (0..TILE_HALVES).map(|_| half() | half() << 16).collect();
    let shape = Shape {
        blocks: 1,
        threads: 32,
        shared_bytes: 4 * TILE_HALVES + 4 * 4 * 256,
        output_words: 4 * 256,
    };
    run(machine, name, &probe_wmma, &shape, input, UNWRITTEN, &[equality])
}

/// The probes of what `sm_80` brought.
///
/// # Errors
///
/// The machine's.
pub fn sm_80_outcomes<M: Machine>(machine: &M) -> Result<Vec<Outcome>, M::Error> {
    let mut random = Random(2);
    let bits = [Equality::Bits];
    let blocks = 2;
    let shape = Shape {
        blocks,
        threads: THREADS,
        shared_bytes: 0,
        output_words: sm_80::REDUCE_WORDS * blocks * THREADS,
    };
    let input = random.words((blocks * THREADS) as usize);
    let reduce = run(machine, "probe_reduce", &sm_80::probe_reduce, &shape, input, UNWRITTEN, &bits)?;
    let shape = Shape {
        blocks: 1,
        threads: 32,
        shared_bytes: 4 * 32 * sm_80::COPY_OUTPUT_WORDS,
        output_words: 32 * sm_80::COPY_OUTPUT_WORDS,
    };
    let input = random.words(32 * sm_80::COPY_INPUT_WORDS as usize);
    let copy = run(machine, "probe_copy", &sm_80::probe_copy, &shape, input, UNWRITTEN, &bits)?;
    let shape = Shape {
        shared_bytes: 512,
        output_words: 32 * sm_80::LDMATRIX_WORDS,
        ..shape
    };
    let input = random.words(128);
    let ldmatrix = run(machine, "probe_ldmatrix", &sm_80::probe_ldmatrix, &shape, input, UNWRITTEN, &bits)?;
    let shape = Shape {
        shared_bytes: 0,
        output_words: 32 * sm_80::MMA_OUTPUT_WORDS,
        ..shape
    };
    let input = mma_input(|| random.whole());
    let whole = run(machine, "probe_mma, whole numbers", &sm_80::probe_mma, &shape, input, UNWRITTEN, &bits)?;
    // Products of 16 terms below 1 and a summand: 16 roundings of sums below 17.
    let equality = [within(16.0 * 17.0)];
    let input = mma_input(|| random.float());
    let floats = run(machine, "probe_mma, random", &sm_80::probe_mma, &shape, input, UNWRITTEN, &equality)?;
    let shape = Shape {
        output_words: 32 * sm_80::MMA_F64_OUTPUT_WORDS,
        ..shape
    };
    // Of numbers that halves hold, the sum of products is exact in any order.
    let of_a_half = |_| F16::from_f32(random.float()).to_f32().to_bits();
    let input = (0..32 * sm_80::MMA_F64_INPUT_WORDS).map(of_a_half).collect();
    let double = run(machine, "probe_mma_f64", &sm_80::probe_mma_f64, &shape, input, UNWRITTEN, &bits)?;
    Ok(vec![reduce, copy, ldmatrix, whole, floats, double])
}

/// The probes of `sm_90a`.
///
/// # Errors
///
/// The machine's.
pub fn sm_90a_outcomes<M: Machine>(machine: &M) -> Result<Vec<Outcome>, M::Error> {
    let mut random = Random(3);
    let shape = Shape {
        blocks: 1,
        threads: sm_90a::GROUP_THREADS,
        shared_bytes: 16 * sm_90a::GROUP_PIECES,
        output_words: sm_90a::GROUP_THREADS * sm_90a::GROUP_OUTPUT_WORDS,
    };
    let words = sm_90a::GROUP_THREADS * sm_90a::GROUP_A_WORDS + 4 * sm_90a::GROUP_PIECES;
    let outcome = |name, equality: Equality, value: &mut dyn FnMut() -> f32| {
        let input = (0..words).map(|_| half(value()) | half(value()) << 16).collect();
        run(machine, name, &sm_90a::probe_group, &shape, input, UNWRITTEN, &[equality])
    };
    let whole = outcome("probe_group, whole numbers", Equality::Bits, &mut || random.whole())?;
    // Two products of 16 terms below 1 and a summand: 32 roundings of sums below 33.
    let floats = outcome("probe_group, random", within(32.0 * 33.0), &mut || random.float())?;
    let shape = Shape {
        blocks: 1,
        threads: sm_90a::BULK_THREADS,
        shared_bytes: 32 * sm_90a::BULK_THREADS + 16,
        output_words: 2 * sm_90a::BULK_USES * sm_90a::BULK_THREADS * sm_90a::BULK_WORDS,
    };
    let input = (0..shape.output_words).map(|_| random.word()).collect();
    let runs = run(machine, "probe_bulk", &sm_90a::probe_bulk, &shape, input, UNWRITTEN, &[Equality::Bits])?;
    Ok(vec![whole, floats, runs])
}

/// Registers of both products of `probe_mma`: six of halves, four sums, six numbers in TF32, four sums.
fn mma_input(mut value: impl FnMut() -> f32) -> Vec<u32> {
    let mut words = Vec::new();
    for _ in 0..32 {
        words.extend((0..6).map(|_| half(value()) | half(value()) << 16));
        words.extend((0..14).map(|_| value().to_bits()));
    }
    words
}

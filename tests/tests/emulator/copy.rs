//! Copies of arrays with any strides: every element in its place, whole sectors, no bank conflicts.

use bytemuck::Pod;
use cuda_std::emulator::{Buffer, Instruction, Report, Traffic, launch};
use cuda_std::{Global, Kernel, Launch, Parameters};
use fastrand::Rng;
use integration_tests::random::rng;
use kernels::copy::plan::{Arrangement, Part, Way, plan};
use kernels::copy::{pairs, tiles};

/// Strides and the place of position 0 in memory that holds nothing below it.
struct Strided {
    shape: Vec<usize>,
    strides: Vec<isize>,
    origin: isize,
    /// Elements of the memory.
    length: usize,
}

/// Dense strides for the axes from the slowest to the fastest in `order`, each axis `gap` longer than it is looked at.
fn dense(shape: &[usize], order: &[usize], gap: usize) -> Vec<isize> {
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    for &axis in order.iter().rev() {
        strides[axis] = step as isize;
        step *= shape[axis] + gap;
    }
    strides
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    dense(shape, &(0..shape.len()).collect::<Vec<_>>(), 0)
}

impl Strided {
    fn new(shape: &[usize], strides: Vec<isize>, margin: usize) -> Self {
        let reach = |wanted: fn(isize) -> bool| -> isize {
            let each = shape.iter().zip(&strides).filter(|(_, stride)| wanted(**stride));
            each.map(|(&length, &stride)| (length as isize - 1) * stride).sum()
        };
        let below = -reach(|stride| stride < 0);
        Self {
            shape: shape.to_vec(),
            origin: below + margin as isize,
            length: (below + reach(|stride| stride > 0)) as usize + 1 + margin,
            strides,
        }
    }

    /// Random axes, in a random order, with gaps, some of them backward or broadcast.
    fn random(rng: &mut Rng) -> Self {
        let mut shape = Vec::new();
        let most = [64, 700, 3000][rng.usize(..3)];
        for _ in 0..rng.usize(..=8) {
            let left = most / shape.iter().product::<usize>();
            let longest = [2, 3, 5, 17, 66][rng.usize(..5)].min(left.max(1));
            shape.push(rng.usize(1..=longest));
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if rng.bool() {
            rng.shuffle(&mut order);
        }
        let mut strides = dense(&shape, &order, [0, 0, 1, 2][rng.usize(..4)]);
        if rng.bool() {
            for stride in &mut strides {
                match rng.u8(..8) {
                    0 => *stride = 0,
                    1 | 2 => *stride = -*stride,
                    3 => *stride *= 2,
                    _ => {}
                }
            }
        }
        Self::new(&shape, strides, [0, 0, 1, 4][rng.usize(..4)])
    }

    /// Where in memory the element of a position in row-major order lies.
    fn place(&self, mut number: usize) -> usize {
        let mut place = self.origin;
        for axis in (0..self.shape.len()).rev() {
            place += (number % self.shape[axis]) as isize * self.strides[axis];
            number /= self.shape[axis];
        }
        place as usize
    }
}

fn run<P: Parameters>(kernel: &Kernel<P>, (parameters, shape): (P, Launch)) -> Report {
    launch(kernel, shape, parameters).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Launches parts on memory given as bytes; what the output then holds, and the reports.
fn launch_parts<U: tiles::Unit + Pod>(
    parts: &[Part],
    input: &[u8],
    output: &[u8],
    sources: Option<Global<i32>>,
    targets: Option<Global<i32>>,
) -> (Vec<u8>, Vec<(Way, Report)>) {
    let units = |bytes: &[u8]| -> Vec<U> {
        let whole = bytes.len() / size_of::<U>() * size_of::<U>();
        bytemuck::pod_collect_to_vec(&bytes[..whole])
    };
    let (memory, target) = (Buffer::new(&units(input)), Buffer::new(&units(output)));
    // Pairs are an access of the same memory as units of 2 bytes.
    let reports = parts.iter().map(|part| match part.way() {
        Way::Flat => {
            let launch = part.flat::<U>(memory.global(), target.global_mut(), sources, targets);
            (Way::Flat, run(&U::flat_kernel(), launch))
        }
        Way::Tiles => {
            let launch = part.tiles::<U>(memory.global(), target.global_mut());
            (Way::Tiles, run(&U::tiles_kernel(), launch))
        }
        Way::Pairs => unreachable!("pairs have a memory of their own"),
    });
    let reports = reports.collect();
    (bytemuck::pod_collect_to_vec(&target.to_vec()), reports)
}

/// As [`launch_parts`], the unit chosen by the parts.
pub(crate) fn launch_all(
    parts: &[Part],
    input: &[u8],
    output: &[u8],
    sources: Option<Global<i32>>,
    targets: Option<Global<i32>>,
) -> (Vec<u8>, Vec<(Way, Report)>) {
    if parts.iter().any(|part| part.way() == Way::Pairs) {
        let (memory, target) = (
            Buffer::<u16>::new(&bytemuck::pod_collect_to_vec(input)),
            Buffer::<u16>::new(&bytemuck::pod_collect_to_vec(output)),
        );
        let reports = parts.iter().map(|part| {
            assert_eq!(part.way(), Way::Pairs);
            (
                Way::Pairs,
                run(&pairs::copy_pairs, part.pairs(memory.global(), target.global_mut())),
            )
        });
        let reports = reports.collect();
        return (bytemuck::pod_collect_to_vec(&target.to_vec()), reports);
    }
    match parts.first().map_or(2, |part| part.unit_bytes) {
        2 => launch_parts::<u16>(parts, input, output, sources, targets),
        4 => launch_parts::<u32>(parts, input, output, sources, targets),
        8 => launch_parts::<[u32; 2]>(parts, input, output, sources, targets),
        _ => launch_parts::<[u32; 4]>(parts, input, output, sources, targets),
    }
}

/// Copies to a dense array and compares every element; the reports of the launches.
fn check(bytes: usize, strided: &Strided) -> Vec<(Way, Report)> {
    let what = format!(
        "{bytes} bytes, shape {:?}, strides {:?}, origin {}",
        strided.shape, strided.strides, strided.origin
    );
    let input: Vec<u8> = (0..strided.length * bytes)
        .map(|at| (at ^ at >> 8 ^ at >> 5) as u8)
        .collect();
    let count: usize = strided.shape.iter().product();
    let parts = plan(&Arrangement {
        element_bytes: bytes,
        most_bytes: 16,
        shape: strided.shape.clone(),
        input_strides: strided.strides.clone(),
        output_strides: row_major(&strided.shape),
        input_address: 256,
        output_address: 512,
        input_origin: strided.origin,
        output_origin: 0,
        looked_up: None,
    });
    let (output, reports) = launch_all(&parts, &input, &vec![0xa5; count * bytes], None, None);
    for number in 0..count {
        let place = strided.place(number) * bytes;
        assert_eq!(
            output[number * bytes..][..bytes],
            input[place..][..bytes],
            "{what}: element {number}"
        );
    }
    reports
}

#[test]
fn any_strides() {
    let mut rng = rng();
    for bytes in [2, 4, 8, 16] {
        for _ in 0..60 {
            check(bytes, &Strided::random(&mut rng));
        }
    }
}

/// Traffic of all launches by one instruction.
fn traffic(reports: &[(Way, Report)], instruction: Instruction) -> Traffic {
    let mut sum = Traffic::default();
    for (_, report) in reports {
        sum += report.traffic(instruction);
    }
    sum
}

#[test]
fn transposes_touch_whole_sectors_and_all_banks() {
    for (bytes, way) in [(2, Way::Pairs), (4, Way::Tiles), (8, Way::Tiles), (16, Way::Tiles)] {
        for (shape, order) in [
            (vec![128, 64], vec![1, 0]),
            (vec![3, 64, 64], vec![0, 2, 1]),
            (vec![64, 2, 64], vec![2, 1, 0]),
            (vec![2, 64, 64], vec![2, 0, 1]),
        ] {
            let reports = check(bytes, &Strided::new(&shape, dense(&shape, &order, 0), 0));
            let ways: Vec<_> = reports.iter().map(|(way, _)| *way).collect();
            assert_eq!(ways, [way], "{bytes} bytes, {shape:?}");
            for instruction in [Instruction::GlobalLoad, Instruction::GlobalStore] {
                let traffic = traffic(&reports, instruction);
                assert_eq!(traffic.bytes, 32 * traffic.sectors, "{bytes} bytes, {shape:?}");
            }
            for instruction in [Instruction::SharedLoad, Instruction::SharedStore] {
                assert_eq!(
                    traffic(&reports, instruction).bank_conflicts,
                    0,
                    "{bytes} bytes, {shape:?}"
                );
            }
        }
    }
}

#[test]
fn edges_of_tiles_and_odd_lengths() {
    for bytes in [2, 4, 8, 16] {
        for (rows, columns, gap) in [
            (33, 65, 0),
            (66, 70, 0),
            (8, 8, 0),
            (97, 34, 1),
            (34, 66, 2),
            (31, 130, 3),
        ] {
            let shape = [columns, rows];
            let reports = check(bytes, &Strided::new(&shape, dense(&shape, &[1, 0], gap), 0));
            let has_even = bytes == 2 && (rows | columns | gap) % 2 == 0;
            let way = if has_even { Way::Pairs } else { Way::Tiles };
            assert_eq!(reports[0].0, way, "{bytes} bytes, {rows} by {columns}, gap {gap}");
        }
    }
}

/// Positions as triples apart and together: the short axis has its turn before memory is left behind.
#[test]
fn short_axes() {
    for bytes in [2, 4, 8, 16] {
        for (shape, order) in [
            (vec![3, 1300], vec![1, 0]),
            (vec![1300, 3], vec![1, 0]),
            (vec![5, 600, 3], vec![1, 0, 2]),
            (vec![300, 5, 3], vec![1, 2, 0]),
            (vec![2, 3, 600], vec![0, 2, 1]),
        ] {
            check(bytes, &Strided::new(&shape, dense(&shape, &order, 0), 0));
        }
    }
}

/// What is aligned moves 16 bytes at a time, also with gaps between rows.
#[test]
fn rows_move_in_wide_units() {
    for (bytes, gap, unit) in [
        (2, 8, 16),
        (2, 4, 8),
        (2, 2, 4),
        (2, 1, 2),
        (4, 4, 16),
        (4, 3, 4),
        (8, 1, 8),
        (16, 1, 16),
    ] {
        let shape = [9, 32];
        let strided = Strided::new(&shape, dense(&shape, &[0, 1], gap), 0);
        let reports = check(bytes, &strided);
        let site = reports[0]
            .1
            .sites
            .iter()
            .find(|site| site.instruction == Instruction::GlobalStore)
            .expect("a store");
        assert_eq!(site.bytes_per_lane, unit, "{bytes} bytes, gap {gap}");
    }
}

//! Copies of arrays with any strides: every element in its place, whole sectors, no bank conflicts.

use cuda_std::emulator::{Buffer, Instruction, Report, Traffic, launch};
use cuda_std::half::F16;
use cuda_std::{Global, Kernel, Launch, Parameters};
use fastrand::Rng;
use half::f16;
use integration_tests::random::rng;
use kernels::copy::convert::Conversion;
use kernels::copy::plan::{Arrangement, Part, Way, plan};
use kernels::copy::{boxes, pairs, shifted, tiles};

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

/// Launches a part that moves units of type `U`.
fn launch_part<U: tiles::Unit>(
    part: &Part,
    input: &Buffer<u8>,
    output: &Buffer<u8>,
    sources: Option<Global<i32>>,
    targets: Option<Global<i32>>,
) -> Report {
    match part.way() {
        Way::Tiles => {
            let launch = part.tiles::<U, U>(input.global_as(), output.global_mut_as());
            run(&U::tiles_kernel(), launch)
        }
        Way::Pairs => run(
            &pairs::copy_pairs,
            part.pairs(input.global_as(), output.global_mut_as()),
        ),
        _ => {
            let launch = part.flat::<U, U>(input.global_as(), output.global_mut_as(), sources, targets);
            run(&U::flat_kernel(), launch)
        }
    }
}

/// As [`launch_part`], for kernels of units that are less than a vector; the input from byte `lead` of the memory on.
fn launch_narrow<U: shifted::Unit + boxes::Unit>(
    part: &Part,
    (input, lead): (&Buffer<u8>, usize),
    output: &Buffer<u8>,
    sources: Option<Global<i32>>,
    targets: Option<Global<i32>>,
) -> Report {
    let input = input.global_from(lead);
    if part.way() == Way::Boxes {
        return run(&U::boxes_kernel(), part.boxes::<U>(input, output.global_mut_as()));
    }
    let launch = part.shifted::<U>(input, output.global_mut_as(), sources, targets);
    run(&U::shifted_kernel(), launch)
}

/// Launches parts of elements of so many bytes; what the output then holds, and the reports.
pub(crate) fn launch_all(
    bytes: usize,
    parts: &[Part],
    input: &[u8],
    output: &[u8],
    sources: Option<Global<i32>>,
    targets: Option<Global<i32>>,
) -> (Vec<u8>, Vec<(Way, Report)>) {
    let (input, output) = (Buffer::new(input), Buffer::new(output));
    let reports = parts.iter().map(|part| {
        if matches!(part.way(), Way::Shifted | Way::Boxes) {
            let launch = match part.elements * bytes {
                2 => launch_narrow::<u16>,
                4 => launch_narrow::<u32>,
                _ => launch_narrow::<[u32; 2]>,
            };
            return (part.way(), launch(part, (&input, 0), &output, sources, targets));
        }
        let launch = match part.elements * bytes {
            2 => launch_part::<u16>,
            4 => launch_part::<u32>,
            8 => launch_part::<[u32; 2]>,
            _ => launch_part::<[u32; 4]>,
        };
        (part.way(), launch(part, &input, &output, sources, targets))
    });
    let reports = reports.collect();
    (output.to_vec(), reports)
}

/// What copies elements of so many bytes to a dense array.
fn arrangement(bytes: usize, strided: &Strided) -> Arrangement {
    Arrangement {
        element_bytes: bytes,
        output_element_bytes: bytes,
        takes_pairs: bytes == 2,
        only_moves: true,
        most_elements: 16 / bytes,
        shape: strided.shape.clone(),
        input_strides: strided.strides.clone(),
        output_strides: row_major(&strided.shape),
        input_address: 256,
        output_address: 512,
        input_origin: strided.origin,
        output_origin: 0,
        looked_up: None,
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
    let parts = plan(&arrangement(bytes, strided));
    let (output, reports) = launch_all(bytes, &parts, &input, &vec![0xa5; count * bytes], None, None);
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

/// Rows that begin and end at any place of a vector, in the input, the output and the memory around.
#[test]
fn long_rows_anywhere() {
    let mut rng = rng();
    for bytes in [2, 4, 8] {
        for _ in 0..12 {
            let least = 128 / bytes;
            let shape = [
                rng.usize(2..=5),
                rng.usize(2..=9),
                2 * rng.usize(least / 2..2 * least) + 1,
            ];
            let order = [[0, 1, 2], [1, 0, 2]][rng.usize(..2)];
            let strided = Strided::new(&shape, dense(&shape, &order, rng.usize(1..4)), rng.usize(..8));
            // The slice begins that far behind a vector.
            let lead = rng.usize(..16 / bytes) * bytes;
            let memory: Vec<u8> = std::iter::repeat_with(|| rng.u8(..))
                .take(lead + strided.length * bytes)
                .collect();
            let count: usize = shape.iter().product();
            let parts = plan(&Arrangement {
                input_address: 256 + lead,
                ..arrangement(bytes, &strided)
            });
            let (input, output) = (Buffer::new(&memory), Buffer::filled(0xa5_u8, count * bytes));
            for part in &parts {
                assert_eq!(
                    (part.way(), part.elements),
                    (Way::Shifted, 1),
                    "{bytes} bytes, {shape:?}"
                );
                let launch = match bytes {
                    2 => launch_narrow::<u16>,
                    4 => launch_narrow::<u32>,
                    _ => launch_narrow::<[u32; 2]>,
                };
                let report = launch(part, (&input, lead), &output, None, None);
                let loads = report
                    .sites
                    .iter()
                    .filter(|site| site.instruction == Instruction::GlobalLoad);
                let wide = loads.filter(|site| site.bytes_per_lane == 16);
                let narrow: u64 =
                    report.traffic(Instruction::GlobalLoad).bytes - wide.map(|site| site.traffic.bytes).sum::<u64>();
                assert!(
                    narrow <= 64,
                    "{narrow} bytes unit by unit: more than two vectors at either end of the slice"
                );
            }
            let output = output.to_vec();
            for number in 0..count {
                let place = lead + strided.place(number) * bytes;
                assert_eq!(
                    output[number * bytes..][..bytes],
                    memory[place..][..bytes],
                    "{bytes} bytes, shape {shape:?}, strides {:?}, lead {lead}: element {number}",
                    strided.strides
                );
            }
        }
    }
}

/// Boxes: whole ones and those at the ends of axes, one cut axis and two, more than a block has at a time.
#[test]
fn boxes_of_short_axes() {
    for bytes in [2, 4, 8] {
        for (shape, order, is_whole) in [
            (vec![6144, 3], vec![1, 0], true),
            (vec![3, 6144], vec![1, 0], true),
            (vec![3, 96, 96], vec![2, 1, 0], true),
            (vec![3, 100, 71], vec![2, 1, 0], false),
            (vec![5, 333, 7], vec![1, 2, 0], false),
            (vec![2, 2000, 5], vec![2, 0, 1], false),
            (vec![700, 2, 3, 4], vec![3, 1, 2, 0], false),
            (vec![4, 40_000], vec![1, 0], false),
        ] {
            let reports = check(bytes, &Strided::new(&shape, dense(&shape, &order, 0), 0));
            let ways: Vec<_> = reports.iter().map(|(way, _)| *way).collect();
            assert_eq!(ways, [Way::Boxes], "{bytes} bytes, {shape:?}");
            if !is_whole {
                continue;
            }
            for instruction in [Instruction::GlobalLoad, Instruction::GlobalStore] {
                let traffic = traffic(&reports, instruction);
                println!("{bytes} bytes, {shape:?}: {instruction:?} {traffic:?}");
                assert!(
                    10 * traffic.bytes >= 9 * 32 * traffic.sectors,
                    "{bytes} bytes, {shape:?}"
                );
            }
            // Thirds of a row of banks are whole numbers for words; halves and pairs of words meet at their ends.
            let of_request = if bytes == 4 { 0 } else { 2 };
            for instruction in [Instruction::SharedLoad, Instruction::SharedStore] {
                let traffic = traffic(&reports, instruction);
                println!("{bytes} bytes, {shape:?}: {instruction:?} {traffic:?}");
                assert!(
                    traffic.bank_conflicts <= of_request * traffic.requests,
                    "{bytes} bytes, {shape:?}"
                );
            }
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
        // Long rows do so wherever they begin.
        (4, 3, 16),
        (8, 1, 16),
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

/// Numbers of one type as numbers of another, by every kernel there is for the two.
fn check_conversions<I, O>(value: impl Fn(u64) -> I, exact: impl Fn(I) -> O)
where
    I: Conversion<O>,
    O: cuda_std::Element + PartialEq + std::fmt::Debug,
{
    let mut rng = rng();
    let most_elements = size_of::<I::Most>() / size_of::<I>();
    let mut launched = Vec::new();
    // Tiles and flat copies of single numbers, of twos and of fours; then anything.
    let certain = [
        (vec![40, 33], vec![1, 0], 0),
        (vec![70, 66], vec![1, 0], 0),
        (vec![40, 33, 2], vec![1, 0, 2], 0),
        (vec![40, 33, 4], vec![1, 0, 2], 0),
        (vec![7, 33], vec![0, 1], 1),
        (vec![7, 34], vec![0, 1], 2),
        (vec![7, 36], vec![0, 1], 4),
        (vec![1037], vec![0], 0),
    ];
    let certain = certain.map(|(shape, order, gap)| Strided::new(&shape, dense(&shape, &order, gap), 0));
    for strided in certain.into_iter().chain((0..60).map(|_| Strided::random(&mut rng))) {
        let what = format!("shape {:?}, strides {:?}", strided.shape, strided.strides);
        let input: Vec<I> = (0..strided.length as u64).map(&value).collect();
        let count: usize = strided.shape.iter().product();
        let parts = plan(&Arrangement {
            element_bytes: size_of::<I>(),
            output_element_bytes: size_of::<O>(),
            takes_pairs: I::pairs_kernel().is_some(),
            only_moves: false,
            most_elements,
            shape: strided.shape.clone(),
            input_strides: strided.strides.clone(),
            output_strides: row_major(&strided.shape),
            input_address: 256,
            output_address: 512,
            input_origin: strided.origin,
            output_origin: 0,
            looked_up: None,
        });
        let (memory, output) = (Buffer::new(&input), Buffer::filled(exact(value(u64::MAX)), count));
        for part in &parts {
            launched.push((part.way(), part.elements));
            if let (Way::Pairs, Some(kernel)) = (part.way(), I::pairs_kernel()) {
                run(&kernel, part.pairs(memory.global_as(), output.global_mut_as()));
                continue;
            }
            let launch = match part.elements {
                1 => launch_converted::<I, O, I, O>,
                2 => launch_converted::<I, O, I::Two, I::TwoOutput>,
                elements => {
                    assert_eq!(elements, most_elements);
                    launch_converted::<I, O, I::Most, I::MostOutput>
                }
            };
            launch(part, &memory, &output);
        }
        for (number, got) in output.to_vec().into_iter().enumerate() {
            assert_eq!(got, exact(input[strided.place(number)]), "{what}: element {number}");
        }
    }
    assert_eq!(
        launched.contains(&(Way::Pairs, 1)),
        I::pairs_kernel().is_some(),
        "two by two where there is a kernel"
    );
    for way in [Way::Flat, Way::Tiles] {
        for elements in [1, 2, most_elements] {
            assert!(
                launched.contains(&(way, elements)),
                "{way:?} of {elements} elements was launched"
            );
        }
    }
}

fn launch_converted<I, O, U, V>(part: &Part, input: &Buffer<I>, output: &Buffer<O>)
where
    I: cuda_std::Element,
    O: cuda_std::Element,
    U: tiles::Unit<V>,
    V: cuda_std::Element,
{
    let (input, output) = (input.global_as::<U>(), output.global_mut_as::<V>());
    if part.way() == Way::Flat {
        run(&U::flat_kernel(), part.flat(input, output, None, None));
    } else {
        run(&U::tiles_kernel(), part.tiles(input, output));
    }
}

#[test]
fn integers_become_floats() {
    let value = |at: u64| (at.wrapping_mul(25_253) ^ 0x5a5a) as i16;
    check_conversions(value, f32::from);
    check_conversions(value, |value| F16(f16::from_f32(f32::from(value)).to_bits()));
}

#[test]
fn halves_become_floats() {
    let value = |at: u64| F16((at.wrapping_mul(25_253) as u16) % 0x7c00);
    check_conversions(value, |value| f16::from_bits(value.0).to_f32());
}

#[test]
fn floats_become_shorter() {
    // From below the smallest half to beyond the largest.
    let value = |at: u64| ((at % 2000) as f64 - 1000.3) * 2.0_f64.powi((at % 41) as i32 - 30);
    check_conversions(value, |value| value as f32);
    check_conversions(value, |value| F16(f16::from_f32(value as f32).to_bits()));
    check_conversions(|at| value(at) as f32, |value: f32| F16(f16::from_f32(value).to_bits()));
}

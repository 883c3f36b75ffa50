//! MAT-files of MATLAB, `SciPy` and by hand, and damaged ones.

#![expect(clippy::float_cmp, reason = "what a file stores comes back to the bit")]

use std::path::Path;

use ndarray::{ArrayD, IxDyn, arr2};
use num_complex::Complex;

use super::*;

const PLAIN: &[u8] = include_bytes!("testdata/scipy.mat");
const COMPRESSED: &[u8] = include_bytes!("testdata/scipy_compressed.mat");
const LEVEL_4: &[u8] = include_bytes!("testdata/level4.mat");

fn parse(bytes: &[u8]) -> Result<MatFile, IoError> {
    MatFile::parse(Path::new("some.mat"), bytes)
}

fn message(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().to_string()
}

fn get(file: &MatFile, name: &str) -> MatValue {
    file.get(name).unwrap().clone()
}

#[test]
fn every_kind_of_value_as_scipy_wrote_it() {
    for bytes in [PLAIN, COMPRESSED] {
        let file = parse(bytes).unwrap();
        let volume = ArrayD::from_shape_fn(IxDyn(&[2, 3, 4]), |at| (at[0] * 12 + at[1] * 4 + at[2]) as i16);
        let empty = MatValue::Double(ArrayD::zeros(IxDyn(&[0, 0])));
        assert_eq!(get(&file, "volume"), MatValue::Int16(volume));
        assert_eq!(get(&file, "int8"), MatValue::Int8(arr2(&[[-128, 127]]).into_dyn()));
        assert_eq!(
            get(&file, "uint8"),
            MatValue::UInt8(arr2(&[[1, 2, 3, 4, 255]]).into_dyn())
        );
        assert_eq!(
            get(&file, "uint32"),
            MatValue::UInt32(arr2(&[[4_000_000_000]]).into_dyn())
        );
        assert_eq!(get(&file, "int64"), MatValue::Int64(arr2(&[[-(1 << 40)]]).into_dyn()));
        assert_eq!(get(&file, "uint64"), MatValue::UInt64(arr2(&[[1 << 40]]).into_dyn()));
        assert_eq!(
            get(&file, "single"),
            MatValue::Single(arr2(&[[1.5], [-2.5]]).into_dyn())
        );
        assert_eq!(
            get(&file, "logical"),
            MatValue::Logical(arr2(&[[true, false, true]]).into_dyn())
        );
        assert_eq!(
            get(&file, "iq64"),
            MatValue::ComplexDouble(arr2(&[[Complex::new(1.0, 2.0), Complex::new(3.0, -4.0)]]).into_dyn())
        );
        assert_eq!(
            get(&file, "iq32"),
            MatValue::ComplexSingle(arr2(&[[Complex::new(1.0, 2.0)], [Complex::new(3.0, -4.0)]]).into_dyn())
        );
        assert_eq!(get(&file, "text"), MatValue::Char(vec!["Größe".to_owned()]));
        assert_eq!(
            get(&file, "rows"),
            MatValue::Char(vec!["abc".to_owned(), "def".to_owned()])
        );
        assert_eq!(get(&file, "nothing").shape(), [0, 3]);
        assert_eq!(get(&file, "sparse"), MatValue::Unsupported("a sparse matrix"));
        assert_eq!(get(&file, "param.deep.e"), empty);
        let double = file.array_f64("double").unwrap();
        assert!(double[[0, 0]] == 0.1 && double[[0, 1]].is_nan() && double[[0, 2]] == f64::INFINITY);

        let MatValue::Cell(cells) = get(&file, "cells") else {
            panic!("{:?}", file.get("cells"))
        };
        assert_eq!(cells[[0, 0]], MatValue::Int16(arr2(&[[1, 2]]).into_dyn()));
        assert_eq!(cells[[0, 1]], MatValue::Char(vec!["hi".to_owned()]));
        assert_eq!(cells[[1, 0]], empty);
        let MatValue::Struct(inner) = &cells[[1, 1]] else {
            panic!("{:?}", cells[[1, 1]])
        };
        assert_eq!(
            inner[[0, 0]].get("d"),
            Some(&MatValue::Double(arr2(&[[1.5]]).into_dyn()))
        );

        let MatValue::Struct(structures) = get(&file, "structures") else {
            panic!("no struct")
        };
        assert_eq!(structures.shape(), [1, 3]);
        let fields: Vec<_> = structures[[0, 2]].fields().collect();
        assert_eq!(fields[0], ("a", &MatValue::Double(arr2(&[[2.0]]).into_dyn())));
        assert_eq!(fields[1], ("b", &MatValue::Char(vec!["s2".to_owned()])));
        assert_eq!(file.variables().last().unwrap().0, "last");
    }
}

#[test]
fn integers_are_widened_before_arithmetic() {
    let file = parse(PLAIN).unwrap();
    let (c, fc) = (file.scalar_f64("uint16").unwrap(), file.scalar_f64("param.fc").unwrap());
    assert_eq!(c * c, 2_190_400.0);
    assert_eq!(fc * fc, 2.5e13);
    assert_eq!(file.array_i16("uint8").unwrap(), arr2(&[[1, 2, 3, 4, 255]]).into_dyn());
}

#[test]
fn names_and_classes_that_do_not_fit() {
    let file = parse(PLAIN).unwrap();
    let error = |result: Result<f64, IoError>| result.unwrap_err().to_string();
    assert_eq!(
        error(file.scalar_f64("param.PRF")),
        "`some.mat` has no variable `param.PRF`; it has `param.fc`, `param.deep`"
    );
    assert!(error(file.scalar_f64("RF")).starts_with("`some.mat` has no variable `RF`; it has `volume`, `int8`,"));
    assert_eq!(
        error(file.scalar_f64("volume")),
        "`volume` in `some.mat` has shape [2, 3, 4]; a single number was expected"
    );
    assert_eq!(
        error(file.scalar_f64("text")),
        "`text` in `some.mat` is char; a real number or an array of them was expected"
    );
    assert_eq!(
        error(file.scalar_f64("structures.a")),
        "`structures` in `some.mat` has shape [1, 3]; a single structure was expected"
    );
    assert_eq!(
        error(file.scalar_f64("volume.a")),
        "`volume` in `some.mat` is int16; a struct was expected"
    );
    assert_eq!(
        file.array_i16("single").unwrap_err().to_string(),
        "`single` in `some.mat` is 1.5; it must be a whole number from -32768 to 32767"
    );
    assert_eq!(
        file.array_i16("double").unwrap_err().to_string(),
        "`double` in `some.mat` is 0.1; it must be a whole number from -32768 to 32767"
    );
    assert_eq!(
        error(file.scalar_f64("sparse")),
        "`sparse` in `some.mat` is a sparse matrix; a real number or an array of them was expected"
    );
}

#[test]
fn other_files_are_called_by_their_name() {
    assert_eq!(
        message(b"%PDF-1.7 and so on"),
        "`some.mat` is no MAT-file: it starts with `%PDF-1.7 and so `; \
         a MATLAB 5 file starts with a 128-byte header that ends in `IM` or `MI`"
    );
    assert!(message(b"").contains("no MAT-file: it is empty;"));
    assert!(message(&[0x93; 4000]).contains(r"no MAT-file: it starts with `\x93\x93"));
    let advice = "only MATLAB 5 files are read: save it again with `save(file, ..., '-v7')`";
    assert_eq!(
        message(LEVEL_4),
        format!("`some.mat` is a MAT-file of level 4; {advice}")
    );
    let mut hdf5 = PLAIN[..128].to_vec();
    hdf5[124..128].copy_from_slice(b"\x00\x02IM");
    assert_eq!(
        message(&hdf5),
        format!("`some.mat` is a MAT-file of version 7.3 (HDF5); {advice}")
    );
    assert!(message(b"\x89HDF\r\n\x1a\n and more").contains("version 7.3 (HDF5)"));
    let missing = MatFile::open("no/such.mat").unwrap_err();
    assert!(
        missing.to_string().starts_with("cannot read `no/such.mat`: "),
        "{missing}"
    );
}

#[test]
fn a_file_that_ends_early_says_where() {
    assert_eq!(
        message(&PLAIN[..100]),
        "`some.mat` is truncated: the header at byte 0 needs 128 bytes, the file has 100 more"
    );
    assert_eq!(
        message(&PLAIN[..132]),
        "`some.mat` is truncated: a variable's tag at byte 128 needs 8 bytes, the file has 4 more"
    );
    assert_eq!(
        message(&PLAIN[..200]),
        "`some.mat` is truncated: a variable at byte 128 needs 120 bytes, the file has 72 more"
    );
    for bytes in [PLAIN, COMPRESSED] {
        let all = parse(bytes).unwrap().variables().count();
        let mut whole = 0;
        for length in 0..bytes.len() {
            match parse(&bytes[..length]) {
                // Cut between two variables, a file is a smaller file.
                Ok(file) => {
                    whole += 1;
                    assert!(file.variables().count() < all);
                }
                Err(IoError::Truncated { available, needed, .. }) => assert!(available < needed),
                Err(IoError::NotMat { .. }) => assert!(length < 7),
                Err(error) => panic!("{length}: {error}"),
            }
        }
        assert_eq!(whole, all);
    }
}

#[test]
fn damaged_files_are_errors_never_panics() {
    let seed = 0x5eed_u64;
    println!("seed {seed:#x}");
    let mut state = seed;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let (mut sound, mut refused) = (0, 0);
    for round in 0..6000 {
        let mut bytes = if round % 4 == 0 { COMPRESSED } else { PLAIN }.to_vec();
        for _ in 0..=random(3) {
            let at = 116 + random(bytes.len() - 116);
            bytes[at] = [0, 1, 0xff, bytes[at] ^ (1 << random(8)), random(256) as u8][random(5)];
        }
        match parse(&bytes) {
            Ok(_) => sound += 1,
            Err(_) => refused += 1,
        }
    }
    println!("{sound} read, {refused} refused");
    assert!(sound > 100 && refused > 1000);
}

/// Elements by hand, for what `SciPy` does not write.
struct Writer {
    big: bool,
}

impl Writer {
    fn word(&self, word: u32) -> [u8; 4] {
        if self.big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        }
    }

    fn element(&self, kind: u32, data: &[u8]) -> Vec<u8> {
        let mut out = [self.word(kind), self.word(data.len() as u32)].concat();
        out.extend(data);
        out.resize(out.len().next_multiple_of(8), 0);
        out
    }

    fn words(&self, kind: u32, words: &[u32]) -> Vec<u8> {
        self.element(
            kind,
            &words.iter().flat_map(|&word| self.word(word)).collect::<Vec<_>>(),
        )
    }

    fn matrix(&self, class: u32, dimensions: &[u32], name: &str, parts: &[Vec<u8>]) -> Vec<u8> {
        let head = [
            self.words(6, &[class, 0]),
            self.words(5, dimensions),
            self.element(1, name.as_bytes()),
        ];
        self.element(14, &[head.concat(), parts.concat()].concat())
    }

    fn file(&self, variables: &[Vec<u8>]) -> Vec<u8> {
        let mut out = format!("{:116}", "MATLAB 5.0 MAT-file").into_bytes();
        out.extend([0; 8]);
        out.extend(if self.big { b"\x01\x00MI" } else { b"\x00\x01IM" });
        out.extend(variables.concat());
        out
    }
}

#[test]
fn both_byte_orders_and_sixteen_bit_text() {
    for big in [false, true] {
        let writer = Writer { big };
        let sixteen = |text: &str| -> Vec<u8> {
            let units = text.encode_utf16();
            units
                .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
                .collect()
        };
        let double = |value: f64| {
            if big { value.to_be_bytes() } else { value.to_le_bytes() }
        };
        let numbers = [1.5, -2.25e-300].map(double).concat();
        let field = |part| writer.matrix(6, &[1, 2], "", &[part]);
        let file = writer.file(&[
            writer.matrix(6, &[1, 2], "x", &[writer.element(9, &numbers)]),
            // A double stored as 16-bit integers, as MATLAB does when nothing is lost.
            writer.matrix(6, &[2, 1], "small", &[writer.element(3, &sixteen("\u{1}\u{203}"))]),
            writer.matrix(4, &[1, 3], "text", &[writer.element(4, &sixteen("aµ字"))]),
            writer.matrix(
                2,
                &[1, 1],
                "s",
                &[
                    // The field names' length, packed into its tag.
                    [writer.word(4 << 16 | 5), writer.word(2)].concat(),
                    writer.element(1, b"a\0b\0"),
                    field(writer.element(9, &numbers)),
                    writer.element(14, b""),
                ],
            ),
        ]);
        let file = parse(&file).unwrap();
        assert_eq!(file.array_f64("x").unwrap(), arr2(&[[1.5, -2.25e-300]]).into_dyn());
        assert_eq!(file.array_f64("small").unwrap(), arr2(&[[1.0], [515.0]]).into_dyn());
        assert_eq!(get(&file, "text"), MatValue::Char(vec!["aµ字".to_owned()]));
        assert_eq!(file.array_f64("s.a").unwrap(), arr2(&[[1.5, -2.25e-300]]).into_dyn());
        assert_eq!(file.get("s.b").unwrap().shape(), [0, 0]);
    }
}

#[test]
fn what_is_not_read_does_not_stand_in_the_way() {
    let writer = Writer { big: false };
    let number = |value: f64| writer.matrix(6, &[1, 1], "", &[writer.element(9, &value.to_le_bytes())]);
    let opaque = |name: &str| {
        let head = [writer.words(6, &[17, 0]), writer.element(1, name.as_bytes())].concat();
        writer.element(14, &[head, writer.element(1, b"MCOS")].concat())
    };
    let fields = [
        [writer.word(4 << 16 | 5), writer.word(5)].concat(),
        writer.element(1, b"fc\0\0\0text\0f\0\0\0\0c\0\0\0\0"),
        number(5e6),
        opaque(""),
        writer.matrix(
            1,
            &[1, 2],
            "",
            &[writer.matrix(16, &[1, 1], "", &[number(0.0)]), number(7.0)],
        ),
        number(1540.0),
    ];
    let file = writer.file(&[opaque("s"), writer.matrix(2, &[1, 1], "param", &fields)]);
    let file = parse(&file).unwrap();
    let object = MatValue::Unsupported("an object of a MATLAB class, as text in double quotes is");
    assert_eq!(get(&file, "s"), object);
    assert_eq!(get(&file, "param.text"), object);
    assert_eq!(file.scalar_f64("param.fc").unwrap(), 5e6);
    assert_eq!(file.scalar_f64("param.c").unwrap(), 1540.0);
    let MatValue::Cell(cell) = get(&file, "param.f") else {
        panic!("no cell")
    };
    assert_eq!(cell[[0, 0]], MatValue::Unsupported("a function handle"));
    assert_eq!(cell[[0, 1]], MatValue::Double(arr2(&[[7.0]]).into_dyn()));
}

#[test]
fn text_of_every_age() {
    let writer = Writer { big: false };
    let text = |kind: u32, count: u32, bytes: &[u8]| {
        let file = writer.file(&[writer.matrix(4, &[1, count], "t", &[writer.element(kind, bytes)])]);
        get(&parse(&file).unwrap(), "t")
    };
    let row = |row: &str| MatValue::Char(vec![row.to_owned()]);
    assert_eq!(text(2, 2, b"\xb5s"), row("µs"));
    assert_eq!(text(16, 2, "µs".as_bytes()), row("µs"));
    // A character outside the first 65 536 takes two elements, neither of which is one.
    assert_eq!(
        text(17, 3, &[0x3c, 0xd8, 0x0a, 0xdf, b'!', 0]),
        row("\u{fffd}\u{fffd}!")
    );
}

#[test]
fn contents_that_contradict_themselves_say_how() {
    let writer = Writer { big: false };
    let check = |variable: Vec<u8>, what: &str| {
        let expected = format!("`some.mat` is damaged: the variable stored at byte 128: {what}");
        assert_eq!(message(&writer.file(&[variable])), expected);
    };
    let eight = writer.element(9, &[0; 8]);
    check(
        writer.matrix(6, &[1, 2], "x", std::slice::from_ref(&eight)),
        "its dimensions hold 2 numbers, its real part 8 bytes, 8 each",
    );
    check(
        writer.matrix(6, &[1], "x", std::slice::from_ref(&eight)),
        "its dimensions are [1]",
    );
    check(
        writer.matrix(6, &[70_000, 70_000], "x", std::slice::from_ref(&eight)),
        "its dimensions are [70000, 70000]",
    );
    check(writer.matrix(6, &[1, 1], "x", &[]), "real part missing");
    check(writer.matrix(1, &[1, 1], "x", &[]), "cell or field missing");
    check(writer.element(14, b""), "array flags missing");
    check(
        writer.element(7, &[0; 8]),
        "an element of type 7, where 14 or 15 must stand",
    );
    check(
        writer.element(15, b"no zlib"),
        "its compressed data cannot be read: corrupt deflate stream",
    );
    let no_fields = [
        [writer.word(4 << 16 | 5), writer.word(5)].concat(),
        writer.element(1, b""),
    ];
    check(
        writer.matrix(2, &[50_000, 50_000], "x", &no_fields),
        "it announces 2500000000 structures without fields",
    );
    let bare = parse(&writer.file(&[writer.matrix(2, &[2, 3], "x", &no_fields)])).unwrap();
    assert_eq!(get(&bare, "x"), MatValue::Struct(ArrayD::default(IxDyn(&[2, 3]))));
    let mut nested = writer.matrix(6, &[1, 1], "", &[eight]);
    for _ in 0..100 {
        nested = writer.matrix(1, &[1, 1], "c", &[nested]);
    }
    check(nested, "it is nested more than 64 deep");
}

#[test]
fn the_rotating_disk_as_matlab_wrote_it() {
    let disk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/PWI_disk.mat");
    if !disk.exists() {
        println!("skipped: {} is not there", disk.display());
        return;
    }
    let file = MatFile::open(&disk).unwrap();
    let names: Vec<_> = file
        .variables()
        .map(|(name, value)| (name, value.class(), value.shape()))
        .collect();
    assert_eq!(
        names,
        [("RF", "double", vec![334, 128, 32]), ("param", "struct", vec![1, 1])]
    );
    let rf = file.array_i16("RF").unwrap();
    assert_eq!(
        [rf[[5, 0, 0]], rf[[0, 7, 0]], rf[[0, 0, 31]], rf[[200, 64, 16]]],
        [-18, -5, -4, -727]
    );
    assert_eq!(rf.iter().map(|&sample| i64::from(sample)).sum::<i64>(), -608_073);
    assert_eq!(
        file.scalar_f64("param.PRF").unwrap() * file.scalar_f64("param.c").unwrap(),
        14_800_000.0
    );
    assert_eq!(file.scalar_f64("param.t0").unwrap(), 9.95e-6);
    assert_eq!(file.array_f64("param.TXdelay").unwrap().shape(), [1, 128]);
}

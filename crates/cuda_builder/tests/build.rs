//! Builds a small kernels crate for every architecture and follows its PTX through header, check and reports.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use cuda_builder::{
    Arch, CudaBuilder, CudaTools, DeviceCompiler, Error, Freshness, LaunchBounds, PtxHeader, SearchList,
    instruction_counts,
};
use tempfile::TempDir;

const KERNELS: &str = r#"//! Reverses each block of a vector and scales it.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx, stdarch_nvptx, asm_experimental_arch))]

#[cfg(target_arch = "nvptx64")]
mod device {
    use core::arch::{asm, global_asm, nvptx::*};

    global_asm!(".shared .align 16 .b8 tile[1024];");

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo) -> ! {
        unsafe { trap() }
    }

    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn reverse(length: u32, x: *const f32, y: *mut f32) {
        unsafe {
            let thread = _thread_idx_x() as u32;
            let i = (_block_idx_x() * _block_dim_x()) as u32 + thread;
            let tile: u32;
            asm!("mov.u32 {0}, tile;", out(reg32) tile, options(pure, nomem, nostack));
            let value = if i < length { *x.add(i as usize) } else { 0.0 };
            asm!("st.shared.f32 [{0}], {1};", in(reg32) tile + 4 * thread, in(reg32) value);
            _syncthreads();
            let mirrored: f32;
            asm!("ld.shared.f32 {0}, [{1}];", out(reg32) mirrored, in(reg32) tile + 4 * (255 - thread));
            if i < length {
                // The array is indexed by data, so that a panic path remains.
                *y.add(i as usize) = mirrored * factors::FACTORS[(i % 5) as usize] * factors::of_architecture();
            }
        }
    }

    // Its name in the PTX carries what cargo makes of the crate's identity.
    static OFFSETS: [f32; 3] = [0.5, 0.25, 0.125];

    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn offset(y: *mut f32) {
        unsafe {
            let thread = _thread_idx_x() as usize;
            *y.add(thread) += *OFFSETS.get_unchecked(thread);
        }
    }
}
"#;

const FACTORS: &str = r#"//! What the kernels multiply with.
#![no_std]

pub static FACTORS: [f32; 4] = [1.5, 2.5, 3.5, 4.5];

#[inline(never)]
pub fn of_architecture() -> f32 {
    if cfg!(target_feature = "sm_90a") { 90.0 } else if cfg!(target_feature = "sm_80") { 80.0 } else { 70.0 }
}
"#;

/// A workspace of the kernels crate, a crate that it depends on, and one that compiles nowhere.
fn workspace() -> TempDir {
    let root = TempDir::new().unwrap();
    let package = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
        )
    };
    // The target folder of the workspace that this test belongs to: `core` may be compiled there already.
    let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let files = [
        (
            ".cargo/config.toml",
            format!("[build]\ntarget-dir = '{}'\n", target_dir.display()),
        ),
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"kernels\", \"broken\"]\n\n[profile.release]\ndebug = true\n".to_owned(),
        ),
        (
            "kernels/Cargo.toml",
            package("some-kernels", "factors = { path = \"../factors\" }\n"),
        ),
        ("kernels/src/lib.rs", KERNELS.to_owned()),
        ("factors/Cargo.toml", package("factors", "")),
        ("factors/src/lib.rs", FACTORS.to_owned()),
        ("broken/Cargo.toml", package("broken", "")),
        ("broken/src/lib.rs", "compile_error!(\"not to be built\");".to_owned()),
    ];
    for (path, content) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    root
}

fn builder(root: &Path, arch: Arch) -> CudaBuilder {
    CudaBuilder::new(root.join("kernels"))
        .arch(arch)
        .launch_bounds([LaunchBounds::new("reverse", 256, 4), LaunchBounds::new("offset", 32, 1)])
}

fn edit(path: PathBuf, from: &str, to: &str) {
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    fs::write(path, text.replace(from, to)).unwrap();
}

/// A device compiler, or `None` after saying that the test is skipped.
fn compiler(test: &str) -> Option<DeviceCompiler> {
    DeviceCompiler::find()
        .inspect_err(|error| println!("skipped: {test}: {error}"))
        .ok()
}

#[test]
fn every_architecture_is_built_checked_and_reported() {
    let Some(compiler) = compiler("every_architecture_is_built_checked_and_reported") else {
        return;
    };
    println!("built by {}", compiler.version());
    let root = workspace();
    let mut lock = None;
    for arch in Arch::ALL {
        let path = root.path().join(format!("ptx/{arch}.ptx"));
        let builder = builder(root.path(), arch).compiler(compiler.clone()).copy_to(&path);
        let ptx = builder.build().unwrap();
        assert_eq!(ptx.diagnostics(), "");
        assert_eq!(fs::read_to_string(&path).unwrap(), ptx.text());

        let header = PtxHeader::parse(ptx.text()).unwrap();
        assert_eq!(&header, ptx.header());
        assert_eq!((header.package.as_str(), header.arch), ("some-kernels", arch));
        assert_eq!(header.compiler, compiler.version());
        assert_eq!(header.sources, builder.source_hash().unwrap());

        let text = ptx.text();
        assert!(text.contains(&format!("\n.target {arch}\n")), "{text}");
        assert!(text.contains(")\n.maxntid 256, 1, 1\n.minnctapersm 4\n{"), "{text}");
        assert!(text.contains("\n)\n.maxntid 32, 1, 1\n.minnctapersm 1\n{"), "{text}");
        // What a crate that the kernels depend on knows of the architecture: 70, 80 or 90 as bits of an f32.
        let factor = match arch {
            Arch::Sm70 => "0f428C0000",
            Arch::Sm80 => "0f42A00000",
            _ => "0f42B40000",
        };
        assert!(text.contains(factor), "{text}");
        assert!(text.contains("trap;"), "an index out of range traps in place: {text}");

        assert!(text.contains("OFFSETS"), "{text}");

        let counts: BTreeMap<_, _> = instruction_counts(text)
            .unwrap()
            .into_iter()
            .map(|k| (k.name.clone(), k.block_barriers))
            .collect();
        assert_eq!(
            counts,
            BTreeMap::from([("offset".to_owned(), 0), ("reverse".to_owned(), 1)])
        );

        assert_eq!(builder.check(&path).unwrap(), Freshness::Fresh);
        let now = fs::read(root.path().join("Cargo.lock")).unwrap();
        assert_eq!(
            *lock.get_or_insert(now.clone()),
            now,
            "a build leaves the lock file alone"
        );
        report(text, arch, &builder.target_dir().unwrap());
    }
    follow_changes(root.path(), &compiler);
    equal_in_another_folder(root.path(), compiler);
}

/// What `ptxas` says of the kernels, where there is one.
fn report(text: &str, arch: Arch, target_dir: &Path) {
    let tools = match CudaTools::find(target_dir) {
        Ok(tools) => tools,
        Err(error) => return println!("skipped: the resources for {arch}: {error}"),
    };
    let resources = tools.resources(text, arch).unwrap();
    let names: Vec<_> = resources.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(names, ["offset", "reverse"]);
    let reverse = &resources[1];
    println!("{arch}, {}: {reverse:?}", tools.version());
    assert!((8..=64).contains(&reverse.registers), "{reverse:?}");
    assert_eq!((reverse.static_shared_bytes, reverse.barriers), (1024, 1));
    assert_eq!(
        (reverse.stack_bytes, reverse.spill_store_bytes, reverse.spill_load_bytes),
        (0, 0, 0)
    );
    match tools.sass(text, arch) {
        Ok(sass) => assert!(sass.contains("BAR.SYNC"), "{sass}"),
        Err(error @ Error::NoTool { .. }) => println!("skipped: the machine code for {arch}: {error}"),
        Err(error) => panic!("{error}"),
    }
    let refused = tools
        .resources(&text.replace("bar.sync", "bar.wait"), arch)
        .unwrap_err();
    assert!(matches!(refused, Error::Program { .. }), "{refused}");
}

/// Each way in which a file can stop being that of its sources.
fn follow_changes(root: &Path, compiler: &DeviceCompiler) {
    let path = root.join("ptx/sm_80.ptx");
    let builder = builder(root, Arch::Sm80).compiler(compiler.clone());
    let text = fs::read_to_string(&path).unwrap();
    let checked = |text: &str| {
        fs::write(&path, text).unwrap();
        builder.check(&path).unwrap()
    };
    assert_eq!(checked(&text.replace('\n', "\r\n")), Freshness::Fresh);
    assert_eq!(checked(&text.replace("bar.sync", "bar.arrive")), Freshness::Edited);

    let other_compiler = text.replacen("rustc 1.", "rustc 2.", 1);
    let Freshness::SourcesUnchanged { recorded, at_hand } = checked(&other_compiler) else {
        panic!("another compiler cannot compare bytes");
    };
    assert!(recorded.starts_with("rustc 2."));
    assert_eq!(at_hand.as_deref(), Some(compiler.version()));
    let without = CudaBuilder::new(root.join("kernels"))
        .launch_bounds([LaunchBounds::new("reverse", 256, 4), LaunchBounds::new("offset", 32, 1)]);
    let hash_only = without.check_in(&path, &SearchList::default()).unwrap();
    assert!(
        matches!(hash_only, Freshness::SourcesUnchanged { at_hand: None, .. }),
        "{hash_only}"
    );
    assert!(hash_only.is_accepted());

    fs::write(&path, &text).unwrap();
    let bounds = [LaunchBounds::new("reverse", 128, 4), LaunchBounds::new("offset", 32, 1)];
    let options_changed = builder.clone().launch_bounds(bounds).check(&path).unwrap();
    assert!(
        matches!(options_changed, Freshness::SourcesChanged { .. }),
        "{options_changed}"
    );

    let source = root.join("factors/src/lib.rs");
    edit(source.clone(), "4.5", "5.5");
    let Freshness::SourcesChanged { recorded, current } = builder.check(&path).unwrap() else {
        panic!("a changed dependency goes unseen");
    };
    assert_ne!(recorded, current);
    edit(source, "5.5", "4.5");
    assert_eq!(builder.check(&path).unwrap(), Freshness::Fresh);
}

/// The bytes and the hash do not depend on where the workspace lies.
fn equal_in_another_folder(root: &Path, compiler: DeviceCompiler) {
    let other = workspace();
    let deeper = other.path().join("kernels/../kernels");
    let moved = builder(other.path(), Arch::Sm80);
    assert_eq!(
        moved.source_hash().unwrap(),
        builder(root, Arch::Sm80).source_hash().unwrap()
    );
    let moved = CudaBuilder::new(deeper)
        .launch_bounds([LaunchBounds::new("offset", 32, 1), LaunchBounds::new("reverse", 256, 4)])
        .compiler(compiler);
    assert_eq!(
        moved.build().unwrap().text(),
        fs::read_to_string(root.join("ptx/sm_80.ptx")).unwrap()
    );
}

#[test]
fn what_is_wrong_with_a_crate_is_said() {
    let root = workspace();
    let message = |folder: &str| {
        CudaBuilder::new(root.path().join(folder))
            .source_hash()
            .unwrap_err()
            .to_string()
    };
    assert!(message("nowhere").contains("nowhere/Cargo.toml"));
    assert!(message("").contains("describes no package"), "{}", message(""));

    let Some(compiler) = compiler("what_is_wrong_with_a_crate_is_said") else {
        return;
    };
    edit(
        root.path().join("kernels/src/lib.rs"),
        "_syncthreads()",
        "_syncthreats()",
    );
    let error = builder(root.path(), Arch::Sm80)
        .compiler(compiler)
        .build()
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("some-kernels does not compile for sm_80:\n"),
        "{error}"
    );
    assert!(error.contains("cannot find function `_syncthreats`"), "{error}");
}

#[test]
fn without_a_compiler_one_message_says_what_was_tried_and_what_to_install() {
    let folder = TempDir::new().unwrap();
    let toolchain = folder.path().join("toolchains/nightly-x86_64-unknown-linux-gnu/bin");
    let programs = folder.path().join("bin");
    for (folder, name) in [
        (&toolchain, "rustc"),
        (&programs, "rustc-1.96"),
        (&programs, "rustc-wrapper"),
    ] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), "not a program").unwrap();
    }
    let list = SearchList {
        chosen: None,
        rustup_toolchains: Some(folder.path().join("toolchains")),
        program_folders: vec![programs.clone(), folder.path().join("empty")],
        os_release: "ID=debian\n".into(),
    };
    let message = DeviceCompiler::find_in(&list).unwrap_err().to_string();
    let expected = [
        format!("  {}: does not run: ", toolchain.join("rustc").display()),
        format!("  {}: does not run: ", programs.join("rustc-1.96").display()),
        format!("  {}: no rustc there\n", folder.path().join("empty").display()),
        "apt-get install rustc-web cargo-web rust-web-src\n".to_owned(),
        "WARPBEAM_DEVICE_RUSTC".to_owned(),
    ];
    for part in expected {
        assert!(message.contains(&part), "no `{part}` in:\n{message}");
    }
    assert!(!message.contains("rustc-wrapper"));

    let chosen = SearchList {
        chosen: Some("/nowhere/rustc".into()),
        ..list
    };
    let message = DeviceCompiler::find_in(&chosen).unwrap_err().to_string();
    assert!(message.contains("/nowhere/rustc: does not run"), "{message}");
    assert!(
        !message.contains("toolchains"),
        "a chosen compiler is the only one tried: {message}"
    );
}

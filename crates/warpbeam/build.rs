//! Compresses the PTX: programs carry it, and most of it is never read.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::ZlibEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=ptx");
    let (from, to) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR"));
    let (from, to) = from.zip(to).ok_or("cargo sets both folders")?;
    for name in ["sm_70.ptx", "sm_80.ptx", "sm_90a.ptx"] {
        let ptx = fs::read(PathBuf::from(&from).join("ptx").join(name))?;
        let file = File::create(PathBuf::from(&to).join(name).with_extension("ptx.zlib"))?;
        let mut encoder = ZlibEncoder::new(file, Compression::best());
        std::io::Write::write_all(&mut encoder, &ptx)?;
        encoder.finish()?;
    }
    Ok(())
}

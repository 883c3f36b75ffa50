//! What each kernel takes of the hardware, as `ptxas -v` reports it.

use std::path::Path;

use crate::{Arch, CudaTools, Error, tools};

/// A kernel's registers and memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelResources {
    /// The kernel's name.
    pub name: String,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes that a thread writes because registers ran out.
    pub spill_store_bytes: u32,
    /// Bytes that a thread reads back.
    pub spill_load_bytes: u32,
    /// Bytes of a thread's stack frame: arrays indexed by a variable, and calls.
    pub stack_bytes: u32,
    /// Bytes of shared memory whose size is fixed in the code; what a launch adds does not count.
    pub static_shared_bytes: u32,
    /// Named barriers of a block in use.
    pub barriers: u32,
    /// What `ptxas` says against the kernel, such as matrix multiplies that it had to serialise.
    pub remarks: Vec<String>,
}

impl CudaTools {
    /// Compiles PTX for [`Arch::ptxas_name`] and reports on every kernel, in order of name.
    ///
    /// The numbers belong to this version of `ptxas`; the driver's own compiler may give others.
    ///
    /// # Errors
    /// [`Error::Program`] if `ptxas` refuses the text, [`Error::PtxasOutput`] if its report is not understood,
    /// [`Error::Io`].
    pub fn resources(&self, ptx: &str, arch: Arch) -> Result<Vec<KernelResources>, Error> {
        let folder = tools::temporary_folder()?;
        let report = self.assemble(ptx, arch, &folder.path().join("kernels.cubin"))?;
        parse(&report)
    }

    /// The machine code that `ptxas` makes of PTX, as `nvdisasm` prints it.
    ///
    /// # Errors
    /// [`Error::NoTool`] if there is no `nvdisasm`, otherwise as [`resources`](Self::resources).
    pub fn sass(&self, ptx: &str, arch: Arch) -> Result<String, Error> {
        let nvdisasm = self.nvdisasm()?;
        let folder = tools::temporary_folder()?;
        let cubin = folder.path().join("kernels.cubin");
        self.assemble(ptx, arch, &cubin)?;
        Ok(tools::run(nvdisasm, &["-c".as_ref(), cubin.as_ref()])?.0)
    }

    /// Writes a cubin and returns what `ptxas -v` says.
    fn assemble(&self, ptx: &str, arch: Arch, cubin: &Path) -> Result<String, Error> {
        let source = cubin.with_extension("ptx");
        std::fs::write(&source, ptx).map_err(Error::io("write", &source))?;
        let target = format!("-arch={}", arch.ptxas_name());
        let (out, err) = tools::run(
            self.ptxas(),
            &[
                "-v".as_ref(),
                target.as_ref(),
                source.as_ref(),
                "-o".as_ref(),
                cubin.as_ref(),
            ],
        )?;
        Ok(out + &err)
    }
}

/// Reads the report: a kernel is announced, its properties follow.
fn parse(report: &str) -> Result<Vec<KernelResources>, Error> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    let mut remarks = Vec::new();
    for line in report.lines() {
        let unclear = || Error::PtxasOutput { line: line.to_owned() };
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            kernels.push(KernelResources {
                name,
                ..Default::default()
            });
        } else if line.contains("bytes stack frame") {
            let kernel = kernels.last_mut().ok_or_else(unclear)?;
            kernel.stack_bytes = amount(line, "bytes stack frame").ok_or_else(unclear)?;
            kernel.spill_store_bytes = amount(line, "bytes spill stores").ok_or_else(unclear)?;
            kernel.spill_load_bytes = amount(line, "bytes spill loads").ok_or_else(unclear)?;
        } else if line.contains(" registers") && line.contains("Used ") {
            let kernel = kernels.last_mut().ok_or_else(unclear)?;
            kernel.registers = amount(line, "registers").ok_or_else(unclear)?;
            // What a kernel does not use is not listed.
            kernel.barriers = amount(line, "barriers").unwrap_or(0);
            kernel.static_shared_bytes = amount(line, "bytes smem").unwrap_or(0);
        } else if line.contains("warning") || line.contains("Performance Loss") {
            remarks.push(line);
        }
    }
    for remark in remarks {
        let quoted = |name: &str| remark.contains(&format!("'{name}'"));
        for kernel in kernels.iter_mut().filter(|k| quoted(&k.name)) {
            kernel.remarks.push(remark.to_owned());
        }
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kernels)
}

/// The number in front of `unit`, in a list that commas separate.
fn amount(line: &str, unit: &str) -> Option<u32> {
    line.split(',').find_map(|item| {
        item.trim()
            .strip_suffix(unit)?
            .split_whitespace()
            .next_back()?
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
ptxas info    : 36 bytes gmem, 8 bytes cmem[4]
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'window'
ptxas info    : Compiling entry function 'window' for 'sm_90a'
ptxas info    : Function properties for window
    64 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 255 registers, used 3 barriers, 64 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compile time = 5.459 ms
ptxas info    : Compiling entry function 'voxel' for 'sm_90a'
ptxas info    : Function properties for voxel
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers
ptxas info    : Compile time = 0.750 ms
";

    #[test]
    fn a_report_is_read() {
        let kernels = parse(REPORT).unwrap();
        let voxel = KernelResources {
            name: "voxel".into(),
            registers: 10,
            ..Default::default()
        };
        assert_eq!(kernels[0], voxel);
        let window = KernelResources {
            name: "window".into(),
            registers: 255,
            spill_store_bytes: 24,
            spill_load_bytes: 28,
            stack_bytes: 64,
            static_shared_bytes: 4096,
            barriers: 3,
            remarks: vec![REPORT.lines().nth(1).unwrap().to_owned()],
        };
        assert_eq!(kernels[1], window);
        assert_eq!(kernels.len(), 2);
    }

    #[test]
    fn an_unknown_report_is_shown() {
        for report in [
            "    many bytes stack frame, 0 bytes spill stores",
            "ptxas info : Used 3 registers",
        ] {
            assert!(parse(report).unwrap_err().to_string().contains(report));
        }
    }
}

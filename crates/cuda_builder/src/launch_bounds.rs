//! Launch bounds: what a kernel promises about its launches, so that `ptxas` can give it more registers.

use std::collections::BTreeSet;

use crate::{Error, ptx};

/// The largest block a kernel is launched with, and the blocks that have to fit on a multiprocessor.
///
/// `ptxas` limits the registers of a thread to what these allow; a launch with a larger block fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchBounds {
    /// The kernel's name in the PTX.
    pub kernel: String,
    /// Threads in the largest block, 1 to 1024 (`.maxntid`; blocks are one-dimensional).
    pub max_threads_per_block: u32,
    /// Blocks that have to fit on a multiprocessor at once, 1 to 32 (`.minnctapersm`).
    pub min_blocks_per_sm: u32,
}

impl LaunchBounds {
    /// Bounds of the kernel of that name.
    pub fn new(kernel: impl Into<String>, max_threads_per_block: u32, min_blocks_per_sm: u32) -> Self {
        Self {
            kernel: kernel.into(),
            max_threads_per_block,
            min_blocks_per_sm,
        }
    }

    fn refused(&self, expected: &'static str) -> Error {
        Error::LaunchBounds {
            kernel: self.kernel.clone(),
            max_threads_per_block: self.max_threads_per_block,
            min_blocks_per_sm: self.min_blocks_per_sm,
            expected,
        }
    }
}

/// Refuses bounds that no device can satisfy and kernels that are named twice.
pub(crate) fn validate(bounds: &[LaunchBounds]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for bound in bounds {
        let (threads, blocks) = (bound.max_threads_per_block, bound.min_blocks_per_sm);
        if !(1..=1024).contains(&threads) {
            return Err(bound.refused("a block has 1 to 1024 threads"));
        }
        if !(1..=32).contains(&blocks) {
            return Err(bound.refused("a multiprocessor holds 1 to 32 blocks"));
        }
        if threads * blocks > 2048 {
            return Err(bound.refused("a multiprocessor holds at most 2048 threads"));
        }
        if !seen.insert(&bound.kernel) {
            return Err(bound.refused("give them once"));
        }
    }
    Ok(())
}

/// Writes the bounds into the entries of a module: each entry has its own, each bound its entry.
pub(crate) fn insert(ptx: &str, bounds: &[LaunchBounds]) -> Result<String, Error> {
    let code = ptx::without_comments(ptx);
    let kernels: Vec<_> = ptx::functions(&code)?.into_iter().filter(|f| f.is_kernel).collect();
    if let Some(unknown) = bounds.iter().find(|b| kernels.iter().all(|k| k.name != b.kernel)) {
        return Err(Error::UnknownKernel {
            kernel: unknown.kernel.clone(),
            present: kernels.iter().map(|k| k.name.to_owned()).collect(),
        });
    }
    let mut out = String::with_capacity(ptx.len() + 64 * kernels.len());
    let mut copied = 0;
    for kernel in kernels {
        let bound = bounds
            .iter()
            .find(|b| b.kernel == kernel.name)
            .ok_or_else(|| Error::NoLaunchBounds {
                kernel: kernel.name.to_owned(),
            })?;
        out.push_str(&ptx[copied..kernel.after_parameters]);
        out += "\n.maxntid ";
        out += &bound.max_threads_per_block.to_string();
        out += ", 1, 1\n.minnctapersm ";
        out += &bound.min_blocks_per_sm.to_string();
        copied = kernel.after_parameters;
    }
    out.push_str(&ptx[copied..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".visible .entry a()\n{\n\tret;\n}\n\t// .globl	b\n.visible .entry b(\n\t.param .u32 b_param_0\n)\n{\n\tret;\n}\n";

    #[test]
    fn bounds_stand_between_parameters_and_body() {
        let bounds = [LaunchBounds::new("b", 256, 2), LaunchBounds::new("a", 1024, 1)];
        let expected = PTX
            .replace("a()\n", "a()\n.maxntid 1024, 1, 1\n.minnctapersm 1\n")
            .replace("b_param_0\n)\n", "b_param_0\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n");
        assert_eq!(insert(PTX, &bounds).unwrap(), expected);
    }

    #[test]
    fn every_bound_has_its_kernel_and_every_kernel_its_bound() {
        let unknown = insert(PTX, &[LaunchBounds::new("c", 32, 1)]).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "launch bounds were given for `c`, but the PTX has only [a, b]"
        );
        let unbounded = insert(PTX, &[LaunchBounds::new("a", 32, 1)]).unwrap_err();
        assert_eq!(
            unbounded.to_string(),
            "kernel `b` has no launch bounds; every kernel needs them"
        );
    }

    #[test]
    fn impossible_bounds_are_refused_with_their_values() {
        let refused = |bounds: &[LaunchBounds]| validate(bounds).unwrap_err().to_string();
        assert!(refused(&[LaunchBounds::new("a", 0, 1)]).contains("(0 threads a block"));
        assert!(refused(&[LaunchBounds::new("a", 1025, 1)]).contains("1 to 1024"));
        assert!(refused(&[LaunchBounds::new("a", 32, 0)]).contains("1 to 32 blocks"));
        assert!(refused(&[LaunchBounds::new("a", 512, 5)]).contains("at most 2048 threads"));
        assert!(refused(&[LaunchBounds::new("a", 32, 1), LaunchBounds::new("a", 64, 1)]).contains("give them once"));
        assert!(validate(&[LaunchBounds::new("a", 1024, 2), LaunchBounds::new("b", 64, 32)]).is_ok());
    }
}

//! What a kernel is to the host: its name, its launch bounds, its resource numbers, and its entry for the emulator.

/// A type that can be passed by value as a kernel's parameter.
///
/// # Safety
///
/// The type is `#[repr(C)]`, holds plain data only, and has the same layout on the host and on the device.
pub unsafe trait Parameters: Copy + Send + Sync + 'static {}

/// Numbers written beside a kernel, held against what the compiler makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Most registers a thread may use, on any architecture built for.
    pub registers: u32,
    /// Barriers (`bar.sync`) in the PTX: a duplicated one would be a hang.
    pub barriers: u32,
    /// Warp shuffles, votes, matches and reductions in the PTX.
    pub warp_operations: u32,
    /// Matrix instructions in the PTX.
    pub matrix_operations: u32,
}

/// The part of a kernel that does not depend on its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// The entry's name in the PTX.
    pub name: &'static str,
    /// Most threads a block may have; written into the PTX as `.maxntid`.
    pub threads_per_block: u32,
    /// Blocks that must fit on a multiprocessor; written into the PTX as `.minnctapersm`.
    pub blocks_per_multiprocessor: u32,
    /// What the kernel may use.
    pub resources: Resources,
}

/// A kernel whose parameter is `P`.
pub struct Kernel<P> {
    /// Name, launch bounds and resources.
    pub info: KernelInfo,
    #[cfg(not(target_arch = "nvptx64"))]
    entry: unsafe fn(P),
    #[cfg(target_arch = "nvptx64")]
    parameters: core::marker::PhantomData<P>,
}

#[cfg(not(target_arch = "nvptx64"))]
impl<P: Parameters> Kernel<P> {
    /// A kernel of that body; the macro [`kernels!`](crate::kernels) calls this.
    ///
    /// # Safety
    ///
    /// Called as a thread of a launch, the body touches no memory but its own and, through `cuda_std`, its parameters'.
    pub const unsafe fn new(info: KernelInfo, entry: unsafe fn(P)) -> Self {
        Self { info, entry }
    }

    /// The kernel's body.
    pub(crate) fn entry(&self) -> unsafe fn(P) {
        self.entry
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block, along x.
    pub threads: u32,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

/// Defines kernels from their names, parameters, launch bounds, resources and bodies, and their list `KERNELS`.
///
/// On the device each is a PTX entry of its name; on a host it is a constant [`Kernel`] of that name.
///
/// `for sm_90a;` before the first: these and no others are in the PTX for that architecture, and in no other.
#[macro_export]
macro_rules! kernels {
    (for sm_90a; $($kernels:tt)*) => {
        $crate::kernels! { @ (target_arch = "nvptx64", target_feature = "sm_90a") $($kernels)* }
    };
    (@ $where:tt $(
        $(#[$attribute:meta])*
        $name:ident($parameter:ident: $type:ty),
        threads $threads:expr, blocks $blocks:expr, resources $resources:expr,
        $body:block
    )*) => {
        $(
            $(#[$attribute])*
            #[cfg(all $where)]
            #[unsafe(no_mangle)]
            pub unsafe extern "ptx-kernel" fn $name($parameter: $type) $body

            // In the PTX for another architecture there is no trace of it.
            $(#[$attribute])*
            #[cfg(all(target_arch = "nvptx64", not(all $where)))]
            #[inline]
            pub unsafe fn $name($parameter: $type) $body

            $(#[$attribute])*
            #[cfg(not(target_arch = "nvptx64"))]
            #[allow(non_upper_case_globals)]
            pub const $name: $crate::Kernel<$type> = {
                unsafe fn entry($parameter: $type) $body
                let info = $crate::KernelInfo {
                    name: stringify!($name),
                    threads_per_block: $threads,
                    blocks_per_multiprocessor: $blocks,
                    resources: $resources,
                };
                // SAFETY: the promise of the body's author.
                unsafe { $crate::Kernel::new(info, entry) }
            };
        )*

        /// This module's kernels.
        pub const KERNELS: &[$crate::KernelInfo] = &[$(
            $crate::KernelInfo {
                name: stringify!($name),
                threads_per_block: $threads,
                blocks_per_multiprocessor: $blocks,
                resources: $resources,
            },
        )*];
    };
    ($($kernels:tt)*) => {
        $crate::kernels! { @ (target_arch = "nvptx64", not(target_feature = "sm_90a")) $($kernels)* }
    };
}

/// Repeats a block for `I` from 0 to below a constant of at most 16, `I` a constant in each.
///
/// An array that is indexed by a loop's variable lives in memory; indexed by constants it lives in registers. The
/// compiler unrolls small loops by itself, but not those that matter.
///
/// Or for `I` of a list of literals: loops in loops would be written out 16 times each otherwise, needed or not.
#[macro_export]
macro_rules! unroll {
    ($index:ident in [$($value:literal),*] $body:block) => {
        $({
            const $index: usize = $value;
            $body
        })*
    };
    ($index:ident in 0..$count:ident $body:block) => {
        $crate::unroll!(@ $index $count $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $index:ident $count:ident $body:block $($value:literal)*) => {
        const { assert!($count <= 16) };
        $({
            const $index: usize = $value;
            if $index < $count $body
        })*
    };
}

/// Items that exist on a host only: what the launching side needs to know of kernels.
#[macro_export]
macro_rules! on_host {
    ($($item:item)*) => { $(
        #[cfg(not(target_arch = "nvptx64"))]
        $item
    )* };
}

//! Places of voxels along Morton's curve, by which free ones are sorted: a thread a voxel, blocks of [`THREADS`].

use cuda_std::math::Real;
use cuda_std::{Global, GlobalMut, Parameters, Resources, thread};
use wavefield::curve::Curve;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Places<R> {
    /// x of all voxels, then y, then z.
    pub voxels: Global<R>,
    /// A place each.
    pub places: GlobalMut<u64>,
    /// The curve.
    pub curve: Curve,
    /// Voxels.
    pub n_voxels: u64,
}

// SAFETY: `repr(C)`, numbers and addresses only, the same on both sides.
unsafe impl<R: Real> Parameters for Places<R> {}

/// Finds this thread's voxel's place, if it has one.
///
/// # Safety
///
/// The slices hold what the count says.
#[inline(always)]
unsafe fn find<R: Real>(p: Places<R>) {
    let voxel = u64::from(thread::block_idx_x()) * u64::from(THREADS) + u64::from(thread::thread_idx_x());
    if voxel < p.n_voxels {
        // SAFETY: a coordinate of the voxel, and a place that is this thread's alone.
        unsafe {
            let coordinate = |axis: u64| p.voxels.load(axis * p.n_voxels + voxel).to_f64();
            let place = p.curve.place([coordinate(0), coordinate(1), coordinate(2)]);
            p.places.store(voxel, place);
        }
    }
}

macro_rules! instances {
    ($($type:ty: $name:ident;)*) => {
        cuda_std::kernels! { $(
            /// Places of voxels of that precision.
            $name(p: Places<$type>),
            threads THREADS, blocks 1,
            resources Resources { registers: 40, barriers: 0, warp_operations: 0, matrix_operations: 0 },
            {
                // SAFETY: the launching side's promise.
                unsafe { find(p) }
            }
        )* }

        cuda_std::on_host! { $(
            impl Instance for $type {
                fn places() -> cuda_std::Kernel<Places<Self>> {
                    $name
                }
            }
        )* }
    };
}

cuda_std::on_host! {
    /// A precision that there is a kernel for.
    pub trait Instance: Real {
        /// The kernel.
        fn places() -> cuda_std::Kernel<Places<Self>>;
    }
}

instances! {
    f32: das_places_f32;
    f64: das_places_f64;
}

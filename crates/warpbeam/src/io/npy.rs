//! Arrays to `.npy` files, as `numpy.load` reads them.

use std::io;
use std::path::Path;

use ndarray::{ArrayRef, Dimension};
use ndarray_npy::{WritableElement, WriteNpyExt};

use super::{IoError, atomic_write};

/// Writes an array of any layout and dimension as a `NumPy` `.npy` file: real and complex `f32` and `f64`, integers,
/// `bool`.
///
/// # Errors
///
/// [`IoError::Write`].
pub fn write<T, D>(file: impl AsRef<Path>, array: &ArrayRef<T, D>) -> Result<(), IoError>
where
    T: WritableElement,
    D: Dimension,
{
    atomic_write(file, |out| array.write_npy(out).map_err(io::Error::other))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3, ArrayD, IxDyn, array};
    use ndarray_npy::{ReadableElement, read_npy};
    use num_complex::Complex;

    use super::*;

    fn check<T: WritableElement + ReadableElement + PartialEq + std::fmt::Debug + Clone>(array: &ArrayD<T>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.npy");
        write(&file, array).unwrap();
        let back: ArrayD<T> = read_npy(&file).unwrap();
        assert_eq!(&back, array);
    }

    #[test]
    fn comes_back_as_it_was() {
        let volume = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 100 + j * 10 + k) as f64 - 7.5);
        check(&volume.clone().into_dyn());
        check(&volume.mapv(|v| v as f32).into_dyn());
        check(&volume.mapv(|v| v as i16).into_dyn());
        check(&volume.mapv(|v| Complex::new(v as f32, -v as f32)).into_dyn());
        check(&volume.mapv(|v| Complex::new(v, v * 1e-300)).into_dyn());
        check(&volume.clone().reversed_axes().into_dyn());
        check(&volume.permuted_axes([1, 0, 2]).into_dyn());
        check(&ArrayD::<f32>::zeros(IxDyn(&[3, 0, 2])));
        check(&array![[f32::INFINITY, -0.0]].into_dyn());
    }

    #[test]
    fn the_header_is_what_numpy_writes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.npy");
        write(&file, &Array2::<Complex<f32>>::zeros((5, 7))).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(&bytes[..6], b"\x93NUMPY");
        let header = String::from_utf8_lossy(&bytes[10..bytes.len() - 5 * 7 * 8]).into_owned();
        assert!(header.contains("'descr': '<c8'"), "{header}");
        assert!(header.contains("'fortran_order': False"), "{header}");
        assert!(header.contains("'shape': (5, 7)"), "{header}");
    }
}

//! Pixel buffers to PNG pictures. What the pixels mean is the caller's business.

use std::io;
use std::path::Path;

use ::png::{BitDepth, ColorType, Encoder};

use super::{IoError, atomic_write};

/// Writes 8-bit RGB pixels, rows from the top, three bytes a pixel.
///
/// # Errors
///
/// [`IoError::PixelCount`] unless `pixels` holds exactly `3 · width · height` bytes and there is at least one pixel;
/// [`IoError::Write`].
pub fn write_rgb8(file: impl AsRef<Path>, width: u32, height: u32, pixels: &[u8]) -> Result<(), IoError> {
    write(file.as_ref(), width, height, ColorType::Rgb, pixels)
}

/// Writes 8-bit grey pixels, rows from the top, one byte a pixel.
///
/// # Errors
///
/// [`IoError::PixelCount`] unless `pixels` holds exactly `width · height` bytes and there is at least one pixel;
/// [`IoError::Write`].
pub fn write_gray8(file: impl AsRef<Path>, width: u32, height: u32, pixels: &[u8]) -> Result<(), IoError> {
    write(file.as_ref(), width, height, ColorType::Grayscale, pixels)
}

fn write(file: &Path, width: u32, height: u32, color: ColorType, pixels: &[u8]) -> Result<(), IoError> {
    let channels = color.samples();
    let expected = u64::from(width) * u64::from(height) * channels as u64;
    if expected == 0 || expected != pixels.len() as u64 {
        return Err(IoError::PixelCount {
            width,
            height,
            channels,
            expected,
            got: pixels.len(),
        });
    }
    atomic_write(file, |out| {
        let mut encoder = Encoder::new(out, width, height);
        encoder.set_color(color);
        encoder.set_depth(BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(io::Error::from)?;
        writer.write_image_data(pixels)?;
        writer.finish().map_err(io::Error::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &Path) -> (u32, u32, ColorType, Vec<u8>) {
        let decoder = ::png::Decoder::new(io::BufReader::new(std::fs::File::open(file).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width, info.height, info.color_type, pixels)
    }

    #[test]
    fn pixels_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        let pixels: Vec<u8> = (0..3 * 17 * 5).map(|v| (v * 7 % 256) as u8).collect();
        write_rgb8(&file, 17, 5, &pixels).unwrap();
        assert_eq!(read(&file), (17, 5, ColorType::Rgb, pixels.clone()));
        write_gray8(&file, 51, 5, &pixels).unwrap();
        assert_eq!(read(&file), (51, 5, ColorType::Grayscale, pixels));
    }

    #[test]
    fn a_buffer_of_another_size_is_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        let error = write_rgb8(&file, 4, 3, &[0; 35]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a picture of 4 × 3 pixels with 3 bytes each needs 36 bytes (at least one pixel), the buffer has 35"
        );
        assert!(matches!(write_gray8(&file, 0, 3, &[]), Err(IoError::PixelCount { .. })));
        // The product of these overflows 32 bits to the buffer's length.
        assert!(matches!(
            write_gray8(&file, 1 << 16, 1 << 16, &[]),
            Err(IoError::PixelCount { .. })
        ));
        assert!(!file.exists());
    }
}

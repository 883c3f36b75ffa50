//! Plane-wave acquisitions in the layout of the MUST toolbox: `RF` and a structure `param`.

use std::path::Path;

use ndarray::{Array4, Axis, Ix2, Ix3};

use super::{IoError, MatFile};

/// What a MUST file holds: one transmit event, repeated frame after frame, and how it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct MustAcquisition {
    /// RF samples `(frame, channel, transmit = 1, sample)`.
    pub channel_data: Array4<i16>,
    /// `param.fs`
    pub sampling_frequency_hz: f64,
    /// `param.fc`
    pub center_frequency_hz: f64,
    /// `param.pitch`: distance between the centres of neighbouring elements.
    pub pitch_m: f64,
    /// `param.c`
    pub sound_speed_m_s: f64,
    /// `param.PRF`: frames a second.
    pub pulse_repetition_frequency_hz: f64,
    /// `param.t0`: when the first sample was taken, counted from the transmit.
    pub start_time_s: f64,
    /// Number of elements, which is that of the channels.
    pub n_elements: usize,
    /// `param.TXdelay`: transmit delay of each element; NaN for one that does not transmit.
    pub transmit_delays_s: Option<Vec<f64>>,
    /// `param.width`: width of an element.
    pub element_width_m: Option<f64>,
    /// `param.bandwidth` times the centre frequency: the width of the band that holds the signal. The file gives it in
    /// percent of the centre frequency.
    pub bandwidth_hz: Option<f64>,
}

/// Reads a plane-wave acquisition: `RF`, `(sample, channel, frame)`, whole numbers that fit in `i16`, and `param` with `fs`, `fc`,
/// `pitch`, `c`, `PRF`, `t0`, and where present `Nelements`, `TXdelay`, `width`, `bandwidth`. A file of one frame may
/// lack the third axis.
///
/// # Errors
///
/// Those of [`MatFile::open`] and [`MatFile::get`]; [`IoError::WrongShape`] where shapes do not fit each other,
/// [`IoError::InvalidValue`] where a frequency, speed or length is not positive and finite or a sample no `i16`.
pub fn read_plane_wave(file: impl AsRef<Path>) -> Result<MustAcquisition, IoError> {
    let file = MatFile::open(file)?;
    let channel_data = channel_data(&file)?;
    let n_elements = channel_data.len_of(Axis(1));
    let optional = |name| match file.scalar_f64(name) {
        Err(IoError::MissingVariable { .. }) => Ok(None),
        other => other.map(Some),
    };

    if let Some(count) = optional("param.Nelements")?
        && count.total_cmp(&(n_elements as f64)).is_ne()
    {
        return Err(file.wrong_shape(
            "RF",
            file.get("RF")?,
            format!("(sample, channel, frame) with {count} channels"),
        ));
    }
    let start_time_s = file.scalar_f64("param.t0")?;
    if !start_time_s.is_finite() {
        return Err(file.invalid("param.t0", start_time_s, "finite"));
    }
    let center_frequency_hz = positive(&file, "param.fc")?;
    let bandwidth_percent = optional("param.bandwidth")?;
    if let Some(percent) = bandwidth_percent
        && !(percent > 0.0 && percent < 200.0)
    {
        return Err(file.invalid(
            "param.bandwidth",
            percent,
            "between 0 and 200 (percent of the centre frequency)",
        ));
    }
    let element_width_m = match optional("param.width")? {
        Some(_) => Some(positive(&file, "param.width")?),
        None => None,
    };
    Ok(MustAcquisition {
        channel_data,
        sampling_frequency_hz: positive(&file, "param.fs")?,
        center_frequency_hz,
        pitch_m: positive(&file, "param.pitch")?,
        sound_speed_m_s: positive(&file, "param.c")?,
        pulse_repetition_frequency_hz: positive(&file, "param.PRF")?,
        start_time_s,
        n_elements,
        transmit_delays_s: transmit_delays(&file, n_elements)?,
        element_width_m,
        bandwidth_hz: bandwidth_percent.map(|percent| percent / 100.0 * center_frequency_hz),
    })
}

/// MATLAB's memory order, the first axis fastest, is the library's with the axes reversed.
fn channel_data(file: &MatFile) -> Result<Array4<i16>, IoError> {
    let rf = file.array_i16("RF")?.reversed_axes();
    let rf = match rf.ndim() {
        2 => rf.into_dimensionality::<Ix2>().map(|rf| rf.insert_axis(Axis(0))),
        _ => rf.into_dimensionality::<Ix3>(),
    };
    match rf {
        Ok(rf) if !rf.is_empty() => Ok(rf.insert_axis(Axis(2)).as_standard_layout().into_owned()),
        _ => Err(file.wrong_shape("RF", file.get("RF")?, "(sample, channel, frame), at least one each")),
    }
}

fn transmit_delays(file: &MatFile, n_elements: usize) -> Result<Option<Vec<f64>>, IoError> {
    let name = "param.TXdelay";
    let delays = match file.array_f64(name) {
        Err(IoError::MissingVariable { .. }) => return Ok(None),
        delays => delays?,
    };
    if delays.len() != n_elements {
        return Err(file.wrong_shape(
            name,
            file.get(name)?,
            format!("one delay for each of {n_elements} elements"),
        ));
    }
    Ok(Some(delays.into_iter().collect()))
}

fn positive(file: &MatFile, name: &str) -> Result<f64, IoError> {
    let value = file.scalar_f64(name)?;
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(file.invalid(name, value, "positive and finite"))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "what a file stores comes back to the bit")]

    use std::path::PathBuf;

    use matrw::{MatVariable, MatlabType, NumericArray, matfile, matvar, save_matfile_v7};

    use super::*;

    fn i16_array(shape: &[usize], value: impl Fn(usize) -> i16) -> MatVariable {
        let values: Vec<i16> = (0..shape.iter().product()).map(value).collect();
        MatVariable::NumericArray(NumericArray::new(shape.to_vec(), MatlabType::from(values), None).unwrap())
    }

    /// Saves an `RF` and a `param` and reads them as an acquisition.
    fn read(rf: MatVariable, param: MatVariable) -> Result<MustAcquisition, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mat");
        save_matfile_v7(path.to_str().unwrap(), matfile!(RF: rf, param: param), true).unwrap();
        let name = format!("`{}`", path.display());
        read_plane_wave(&path).map_err(|error| error.to_string().replace(&name, "it"))
    }

    #[test]
    fn axes_and_units() {
        let param = matvar!({
            fs: 20e6, fc: 5_000_000_i32, pitch: 3e-4, c: 1540_u16, PRF: 9000_u16, t0: -1e-6, Nelements: 3_u8, bandwidth: 60_u8
        });
        // Sample fastest, then channel, then frame.
        let acquisition = read(i16_array(&[5, 3, 2], |index| index as i16), param.clone()).unwrap();
        assert_eq!(acquisition.channel_data.dim(), (2, 3, 1, 5));
        assert_eq!(acquisition.channel_data[[1, 2, 0, 4]], 29);
        assert_eq!(acquisition.channel_data[[0, 2, 0, 1]], 11);
        assert!(acquisition.channel_data.is_standard_layout());
        assert_eq!(acquisition.n_elements, 3);
        assert_eq!(acquisition.start_time_s, -1e-6);
        assert_eq!(acquisition.bandwidth_hz, Some(3e6));
        assert_eq!(acquisition.transmit_delays_s, None);
        let single = read(i16_array(&[5, 3], |index| index as i16), param).unwrap();
        assert_eq!(single.channel_data.dim(), (1, 3, 1, 5));
        assert_eq!(single.channel_data[[0, 2, 0, 4]], 14);
    }

    #[test]
    fn other_contents_are_refused_with_the_reason() {
        let rf = || i16_array(&[5, 3, 2], |_| 0);
        let param = || matvar!({ fs: 20e6, fc: 5e6, pitch: 3e-4, c: 1540.0, PRF: 9e3, t0: 0.0 });
        let error = |rf, param| read(rf, param).unwrap_err();
        assert_eq!(
            error(rf(), matvar!({ fs: 20e6 })),
            "it has no variable `param.t0`; it has `param.fs`"
        );
        assert_eq!(
            error(matvar!([1.0, (-2.5)]), param()),
            "`RF` in it is -2.5; it must be a whole number from -32768 to 32767"
        );
        assert_eq!(
            error(i16_array(&[2, 2, 2, 2], |_| 0), param()),
            "`RF` in it has shape [2, 2, 2, 2]; (sample, channel, frame), at least one each was expected"
        );
        assert_eq!(
            error(
                rf(),
                matvar!({ fs: 0.0, fc: 5e6, pitch: 3e-4, c: 1540.0, PRF: 9e3, t0: 0.0 })
            ),
            "`param.fs` in it is 0; it must be positive and finite"
        );
        assert_eq!(
            error(
                rf(),
                matvar!({ fs: 20e6, fc: 5e6, pitch: 3e-4, c: (-1540.0), PRF: 9e3, t0: 0.0 })
            ),
            "`param.c` in it is -1540; it must be positive and finite"
        );
        assert_eq!(
            error(
                rf(),
                matvar!({ fs: 20e6, fc: 5e6, pitch: 3e-4, c: 1540.0, PRF: 9e3, t0: (f64::NAN) })
            ),
            "`param.t0` in it is NaN; it must be finite"
        );
        assert_eq!(
            error(rf(), matvar!({ t0: 0.0, fc: 5e6, Nelements: 64 })),
            "`RF` in it has shape [5, 3, 2]; (sample, channel, frame) with 64 channels was expected"
        );
        assert_eq!(
            error(
                rf(),
                matvar!({ fs: 20e6, fc: 5e6, pitch: 3e-4, c: 1540.0, PRF: 9e3, t0: 0.0, TXdelay: [0.0, 0.0] })
            ),
            "`param.TXdelay` in it has shape [1, 2]; one delay for each of 3 elements was expected"
        );
    }

    #[test]
    fn the_rotating_disk() {
        let disk = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/PWI_disk.mat");
        if !disk.exists() {
            println!("skipped: {} is not there", disk.display());
            return;
        }
        let disk = read_plane_wave(disk).unwrap();
        assert_eq!(disk.channel_data.dim(), (32, 128, 1, 334));
        assert_eq!(disk.channel_data[[16, 64, 0, 200]], -727);
        assert!((disk.sampling_frequency_hz - 20e6 / 3.0).abs() < 1e-6);
        assert_eq!((disk.center_frequency_hz, disk.sound_speed_m_s), (5e6, 1480.0));
        assert_eq!((disk.pulse_repetition_frequency_hz, disk.start_time_s), (1e4, 9.95e-6));
        assert_eq!((disk.pitch_m, disk.element_width_m), (298e-6, Some(262e-6)));
        assert_eq!((disk.n_elements, disk.bandwidth_hz), (128, Some(0.75e6)));
        assert_eq!(disk.transmit_delays_s, Some(vec![0.0; 128]));
    }
}

//! Metres, seconds and hertz that make no sense.

use ndarray::{Array4, ArrayD, IxDyn};
use warpbeam::{Acquisition, Backend, DasPlan, Grid, Medium, Probe, Reception, Transmit, Wave};

fn acquisitions(backend: &Backend) {
    let good = Acquisition {
        probe: Probe::linear(4, 0.3e-3).unwrap(),
        transmits: vec![Transmit::new(Wave::Plane {
            azimuth_rad: 0.0,
            elevation_rad: 0.0,
        })],
        medium: Medium {
            sound_speed_m_s: 1540.0,
        },
        sampling_frequency_hz: 40e6,
        demodulation_frequency_hz: Some(5e6),
        pulse_centre_s: 0.0,
    };
    let grid = Grid::plane(&[0.0], &[10e-3, 11e-3]).unwrap();
    let plan = |acquisition: &Acquisition, reception: &Reception| {
        DasPlan::<f32>::for_acquisition(backend, acquisition, &grid, reception).map_err(|error| error.to_string())
    };
    let refused = |spoil: &dyn Fn(&mut Acquisition), expected: &str| {
        let mut acquisition = good.clone();
        spoil(&mut acquisition);
        assert_eq!(
            plan(&acquisition, &Reception::default()).map(|_| ()).unwrap_err(),
            expected
        );
    };
    for (value, text) in [
        (0.0, "0"),
        (-1540.0, "-1540"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
    ] {
        let message = |what: &str| format!("{what} is {text}; it must be positive and finite");
        refused(&|a| a.medium.sound_speed_m_s = value, &message("sound_speed_m_s"));
        refused(&|a| a.sampling_frequency_hz = value, &message("sampling_frequency_hz"));
        refused(
            &|a| a.demodulation_frequency_hz = Some(value),
            &message("demodulation_frequency_hz"),
        );
    }
    refused(
        &|a| a.pulse_centre_s = f64::NAN,
        "pulse_centre_s is NaN; it must be finite",
    );
    refused(
        &|a| a.transmits.clear(),
        "transmits is empty (shape [0]); at least 1 needed along every axis",
    );
    refused(
        &|a| a.transmits[0].start_time_s = f64::INFINITY,
        "start_time_s of the transmits at [0] is inf; it must be finite",
    );
    let weights = |a: &mut Acquisition| a.transmits[0].weights = Some(ArrayD::ones(IxDyn(&[2])));
    refused(&weights, "a transmit's weights has shape [2]; expected [2, 1]");
    let element = |a: &mut Acquisition| a.transmits[0].wave = Wave::SyntheticAperture { element: 4 };
    refused(
        &element,
        "a transmit fires element 4; the probe has 4 elements, counted from 0",
    );
    let f_number = plan(
        &good,
        &Reception {
            f_number: -2.0,
            ..Reception::default()
        },
    )
    .map(|_| ())
    .unwrap_err();
    assert_eq!(
        f_number,
        "f_number is -2; it must be a positive number, or 0 for all elements"
    );
    let data = Array4::<f32>::ones((1, 4, 1, 1000));
    assert_eq!(
        plan(&good, &Reception::default()).unwrap().run(data.view()).unwrap(),
        ArrayD::from_elem(IxDyn(&[1, 2, 1]), 4.0)
    );
}

integration_tests::on_every_backend! {
    acquisitions: super::acquisitions;
}

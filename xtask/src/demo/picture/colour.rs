//! Values to colours.

/// Red, green, blue.
pub(in crate::demo) type Colour = [u8; 3];

/// The ground of every picture.
pub(in crate::demo) const GROUND: Colour = [13, 15, 20];
/// Titles and numbers.
pub(in crate::demo) const TEXT: Colour = [226, 230, 236];
/// Labels and footnotes.
pub(in crate::demo) const QUIET: Colour = [150, 158, 170];
/// Frames and ticks.
pub(in crate::demo) const LINE: Colour = [92, 100, 112];

/// Brightness of a value from 0 to 1.
pub(in crate::demo) fn grey(value: f64) -> Colour {
    let level = (255.0 * value.clamp(0.0, 1.0)).round() as u8;
    [level, level, level]
}

/// Black, violet, orange, pale yellow for a value from 0 to 1.
pub(in crate::demo) fn inferno(value: f64) -> Colour {
    let colour = colorous::INFERNO.eval_continuous(value.clamp(0.0, 1.0));
    [colour.r, colour.g, colour.b]
}

/// The colours of flow for a value from −1 to 1: towards the probe red to yellow, away from it blue to cyan, black
/// between.
pub(in crate::demo) fn flow(value: f64) -> Colour {
    const TOWARDS: [Colour; 3] = [[20, 0, 0], [214, 30, 20], [255, 226, 92]];
    const AWAY: [Colour; 3] = [[0, 0, 20], [26, 72, 220], [116, 240, 250]];
    let [black, middle, end] = if value < 0.0 { AWAY } else { TOWARDS };
    let strength = 2.0 * value.abs().min(1.0);
    if strength < 1.0 {
        mix(black, middle, strength)
    } else {
        mix(middle, end, strength - 1.0)
    }
}

/// From `a` at 0 to `b` at 1.
pub(in crate::demo) fn mix(a: Colour, b: Colour, part: f64) -> Colour {
    let part = part.clamp(0.0, 1.0);
    [0, 1, 2].map(|channel| {
        let (a, b) = (f64::from(a[channel]), f64::from(b[channel]));
        (a + part * (b - a)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_run_from_dark_to_light_and_do_not_mind_nan() {
        let light = |colour: Colour| colour.map(u32::from).iter().sum::<u32>();
        assert_eq!(
            (grey(-1.0), grey(0.0), grey(1.0)),
            ([0, 0, 0], [0, 0, 0], [255, 255, 255])
        );
        assert!(light(inferno(0.0)) < 10 && light(inferno(1.0)) > 500);
        assert!(flow(1.0)[0] > flow(1.0)[2] && flow(-1.0)[2] > flow(-1.0)[0] && light(flow(0.0)) < 40);
        assert_eq!(grey(f64::NAN), [0, 0, 0]);
    }
}

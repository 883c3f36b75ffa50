//! What the simulated probe looks at: three words made of points, one in each of three orthogonal planes.

/// A point that sends back what reaches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scatterer {
    /// Where it is at time 0.
    pub(super) position_m: [f64; 3],
    /// Which way it moves.
    pub(super) velocity_m_s: [f64; 3],
    /// The amplitude it sends back.
    pub(super) amplitude: f64,
}

/// A word in a plane: `along` and `down` span the plane as they span a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// Letters that [`glyph`] knows.
    pub(super) text: &'static str,
    /// The middle of the word.
    pub(super) centre_m: [f64; 3],
    /// Unit vector of the reading direction.
    pub(super) along: [f64; 3],
    /// Unit vector from the letters' tops to their feet.
    pub(super) down: [f64; 3],
    /// From dot to dot.
    pub(super) pitch_m: f64,
    /// How the whole word moves.
    pub(super) velocity_m_s: [f64; 3],
}

// Columns and rows of a letter, and the columns between two.
const COLUMNS: usize = 5;
const ROWS: usize = 7;
const GAP: usize = 1;

impl Word {
    /// The dots of the word, all of amplitude 1.
    pub(super) fn scatterers(&self) -> Vec<Scatterer> {
        let n_letters = self.text.chars().count();
        let columns = n_letters * (COLUMNS + GAP) - GAP;
        let mut dots = Vec::new();
        for (letter, character) in self.text.chars().enumerate() {
            for (row, dots_in_row) in glyph(character).iter().enumerate() {
                for (column, dot) in dots_in_row.bytes().enumerate() {
                    if dot != b'#' {
                        continue;
                    }
                    let along_m = self.pitch_m * centred(letter * (COLUMNS + GAP) + column, columns);
                    let down_m = self.pitch_m * centred(row, ROWS);
                    let position_m = [0, 1, 2]
                        .map(|axis| self.centre_m[axis] + along_m * self.along[axis] + down_m * self.down[axis]);
                    dots.push(Scatterer {
                        position_m,
                        velocity_m_s: self.velocity_m_s,
                        amplitude: 1.0,
                    });
                }
            }
        }
        dots
    }
}

/// Place i of n, counted from the middle.
fn centred(i: usize, n: usize) -> f64 {
    i as f64 - (n - 1) as f64 / 2.0
}

/// A letter as seven rows of five dots; a letter that is not drawn here is blank.
fn glyph(letter: char) -> [&'static str; ROWS] {
    match letter {
        'A' => [".###.", "#...#", "#...#", "#####", "#...#", "#...#", "#...#"],
        'B' => ["####.", "#...#", "#...#", "####.", "#...#", "#...#", "####."],
        'E' => ["#####", "#....", "#....", "####.", "#....", "#....", "#####"],
        'M' => ["#...#", "##.##", "#.#.#", "#.#.#", "#...#", "#...#", "#...#"],
        'P' => ["####.", "#...#", "#...#", "####.", "#....", "#....", "#...."],
        'R' => ["####.", "#...#", "#...#", "####.", "#.#..", "#..#.", "#...#"],
        'W' => ["#...#", "#...#", "#...#", "#.#.#", "#.#.#", "#.#.#", ".#.#."],
        _ => ["....."; ROWS],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_lies_in_its_plane_around_its_centre() {
        let word = Word {
            text: "WB",
            centre_m: [1e-3, 2e-3, 20e-3],
            along: [1.0, 0.0, 0.0],
            down: [0.0, 1.0, 0.0],
            pitch_m: 1e-3,
            velocity_m_s: [0.0, 0.0, 0.1],
        };
        let dots = word.scatterers();
        assert_eq!(dots.len(), 17 + 20);
        let extent = |axis: usize| {
            let values = dots.iter().map(|dot| dot.position_m[axis]);
            (
                values.clone().fold(f64::INFINITY, f64::min),
                values.fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let close = |got: (f64, f64), expected: (f64, f64)| {
            (got.0 - expected.0).abs() < 1e-12 && (got.1 - expected.1).abs() < 1e-12
        };
        assert!(close(extent(0), (1e-3 - 5e-3, 1e-3 + 5e-3)));
        assert!(close(extent(1), (2e-3 - 3e-3, 2e-3 + 3e-3)));
        assert!(close(extent(2), (20e-3, 20e-3)));
        // The first dot is the top left of the W.
        assert!((dots[0].position_m[0] + 4e-3).abs() < 1e-12 && (dots[0].position_m[1] + 1e-3).abs() < 1e-12);
    }
}

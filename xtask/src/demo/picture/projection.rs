//! A volume seen from the side: the brightest voxel along each line of sight, in a box of lines.

use super::canvas::{Canvas, Place};
use super::colour::{Colour, GROUND, LINE, QUIET, inferno, mix};
use ndarray::ArrayRef3;

/// From the first to the last voxel along x, y and z, in millimetres.
#[derive(Clone, Copy)]
pub(in crate::demo) struct Box3(pub(in crate::demo) [[f64; 2]; 3]);

/// An eye far away that looks down on the volume: z runs down the picture, x and y to the right.
pub(in crate::demo) struct Projection {
    /// What is seen.
    pub(in crate::demo) volume: Box3,
    /// Middle of the picture in pixels.
    pub(in crate::demo) centre: [i32; 2],
    /// Pixels per millimetre across the line of sight.
    pub(in crate::demo) pixels_per_mm: f64,
    /// How far the eye has gone around the volume, in radians: 0 sees x run to the right, π/2 y.
    pub(in crate::demo) turn_rad: f64,
    /// How far it looks down, in radians.
    pub(in crate::demo) tilt_rad: f64,
}

impl Projection {
    /// Draws the box and its axes, a rectangle for each plane `(axis, place in millimetres, colour)`, and over them the
    /// brightest of `brightness`, `(z, y, x)` from 0 to 1, along each line of sight.
    pub(in crate::demo) fn draw(
        &self,
        canvas: &mut Canvas,
        brightness: &ArrayRef3<f64>,
        planes: &[(usize, f64, Colour)],
    ) {
        let Box3(ends) = self.volume;
        for (axis, walls_mm) in ends.iter().enumerate() {
            for wall_mm in walls_mm {
                self.rectangle(canvas, axis, *wall_mm, mix(GROUND, LINE, 0.7));
            }
        }
        for (axis, place_mm, colour) in planes {
            self.rectangle(canvas, *axis, *place_mm, mix(GROUND, *colour, 0.8));
        }
        // The two edges below in front, and the leftmost one.
        let [x, y, z] = ends.map(|[low, high]| f64::midpoint(low, high));
        let names = [
            ("x", [x, ends[1][1], ends[2][1]], [12, 18]),
            ("y", [ends[0][0], y, ends[2][1]], [-12, 18]),
            ("z", [ends[0][0], ends[1][0], z], [-18, 0]),
        ];
        for (name, edge, aside) in names {
            let [right, down] = self.pixel(edge);
            canvas.text(name, [right + aside[0], down + aside[1]], Place::Around, 18.0, QUIET);
        }
        let diagonal_mm = ends.iter().map(|[low, high]| (high - low).powi(2)).sum::<f64>().sqrt();
        let half = (0.5 * self.pixels_per_mm * diagonal_mm).ceil() as i32;
        canvas.paint(
            [self.centre[0] - half, self.centre[1] - half],
            [2 * half, 2 * half],
            |x, y, before| {
                let seen = self.brightest(brightness, f64::from(x - half), f64::from(y - half));
                mix(before, inferno(seen), 2.0 * seen)
            },
        );
    }

    /// The cut of the box across an axis.
    fn rectangle(&self, canvas: &mut Canvas, axis: usize, place_mm: f64, colour: Colour) {
        let Box3(ends) = self.volume;
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let corners = [(0, 0), (0, 1), (1, 1), (1, 0), (0, 0)].map(|(i, j)| {
            let mut point = [0.0; 3];
            (point[axis], point[u], point[v]) = (place_mm, ends[u][i], ends[v][j]);
            self.pixel(point)
        });
        for side in corners.windows(2) {
            canvas.line(side[0], side[1], colour, 1.0);
        }
    }

    /// Where a point in millimetres is on the canvas.
    fn pixel(&self, point_mm: [f64; 3]) -> [i32; 2] {
        let [right, down, _] = self.directions();
        let Box3(ends) = self.volume;
        let along = |direction: [f64; 3]| {
            let parts =
                (0..3).map(|axis| direction[axis] * (point_mm[axis] - f64::midpoint(ends[axis][0], ends[axis][1])));
            (self.pixels_per_mm * parts.sum::<f64>()).round() as i32
        };
        [self.centre[0] + along(right), self.centre[1] + along(down)]
    }

    /// Unit vectors to the right, downwards, and along the line of sight.
    fn directions(&self) -> [[f64; 3]; 3] {
        let (turn, tilt) = (self.turn_rad.sin_cos(), self.tilt_rad.sin_cos());
        let right = [turn.1, turn.0, 0.0];
        let ahead = [turn.0, -turn.1, 0.0];
        let down = [-tilt.0 * ahead[0], -tilt.0 * ahead[1], tilt.1];
        let sight = [tilt.1 * ahead[0], tilt.1 * ahead[1], tilt.0];
        [right, down, sight]
    }

    /// The brightest voxel along the line of sight through a pixel, counted from the middle.
    fn brightest(&self, brightness: &ArrayRef3<f64>, x: f64, y: f64) -> f64 {
        let [right, down, sight] = self.directions();
        let Box3(ends) = self.volume;
        let (nz, ny, nx) = brightness.dim();
        let counts = [nx, ny, nz].map(|n| n as f64 - 1.0);
        // In voxels: where the line is at depth 0, and how it goes on for a millimetre.
        let per_mm = [0, 1, 2].map(|axis| counts[axis] / (ends[axis][1] - ends[axis][0]));
        let start = [0, 1, 2]
            .map(|axis| 0.5 * counts[axis] + per_mm[axis] * (x * right[axis] + y * down[axis]) / self.pixels_per_mm);
        let step = [0, 1, 2].map(|axis| per_mm[axis] * sight[axis]);
        let (mut near, mut far) = (f64::NEG_INFINITY, f64::INFINITY);
        for axis in 0..3 {
            // A line along the wall has infinite or undefined crossings, which `min` and `max` pass over.
            let crossings = [-start[axis] / step[axis], (counts[axis] - start[axis]) / step[axis]];
            near = near.max(crossings[0].min(crossings[1]));
            far = far.min(crossings[0].max(crossings[1]));
        }
        let stride_mm = 0.5 / per_mm[0].max(per_mm[1]).max(per_mm[2]);
        let strides = ((far - near) / stride_mm).floor();
        let mut brightest = 0.0_f64;
        for index in 0..=strides as i64 {
            if strides < 0.0 {
                break;
            }
            let depth_mm = near + index as f64 * stride_mm;
            brightest = brightest.max(linear(
                brightness,
                [0, 1, 2].map(|axis| start[axis] + depth_mm * step[axis]),
            ));
        }
        brightest
    }
}

/// The value between eight voxels at (x, y, z) in voxels, inside the volume.
fn linear(volume: &ArrayRef3<f64>, place: [f64; 3]) -> f64 {
    let (nz, ny, nx) = volume.dim();
    let counts = [nx, ny, nz];
    let first = [0, 1, 2].map(|axis| (place[axis].max(0.0) as usize).min(counts[axis].saturating_sub(2)));
    let part = [0, 1, 2].map(|axis| (place[axis] - first[axis] as f64).clamp(0.0, 1.0));
    let mut sum = 0.0;
    for corner in 0..8_usize {
        let bit = [corner & 1, corner >> 1 & 1, corner >> 2];
        let weight: f64 = (0..3)
            .map(|axis| if bit[axis] == 1 { part[axis] } else { 1.0 - part[axis] })
            .product();
        let at = [0, 1, 2].map(|axis| (first[axis] + bit[axis]).min(counts[axis] - 1));
        sum += weight * volume[[at[2], at[1], at[0]]];
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array3;

    #[test]
    fn a_bright_voxel_is_seen_where_its_point_is_drawn() {
        let mut volume = Array3::zeros((11, 9, 13));
        volume[[2, 7, 3]] = 1.0;
        let projection = Projection {
            volume: Box3([[-6.0, 6.0], [-4.0, 4.0], [10.0, 20.0]]),
            centre: [400, 300],
            pixels_per_mm: 10.0,
            turn_rad: 0.6,
            tilt_rad: 0.4,
        };
        let [x, y] = projection.pixel([-3.0, 3.0, 12.0]);
        let seen = |x: i32, y: i32| projection.brightest(&volume, f64::from(x - 400), f64::from(y - 300));
        assert!(seen(x, y) > 0.7, "{}", seen(x, y));
        let far = [(30, 0), (-30, 0), (0, 30), (0, -30)].map(|(dx, dy)| seen(x + dx, y + dy));
        assert!(far.iter().all(|seen| *seen < 1e-12));
    }
}

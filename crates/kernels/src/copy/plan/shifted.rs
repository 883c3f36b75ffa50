//! Rows that begin and end anywhere: when they are worth whole vectors, and how many there are.

use super::{Arrangement, Part};
use crate::copy::axes::Divisor;
use crate::copy::shifted::{Shifted, THREADS, Unit, VECTOR_BYTES, VECTORS};
use cuda_std::{Global, GlobalMut, Launch};

/// Bytes of a row from which on its inner vectors outweigh those at its ends.
const LEAST_ROW_BYTES: u64 = 128;

/// Units of a row at most, so that counting from before its beginning stays in 31 bits.
const MOST_UNITS: u64 = 1 << 30;

impl Part {
    /// Whether rows are dense and long enough, and not made of vectors anyway.
    pub(super) fn has_long_rows(&self, arrangement: &Arrangement) -> bool {
        let unit_bytes = self.elements * arrangement.element_bytes;
        let Some(row) = self.axes.first() else {
            return false;
        };
        arrangement.only_moves
            && unit_bytes < VECTOR_BYTES
            && !row.is_looked_up
            && row.input_stride == 1
            && row.output_stride == 1
            && (LEAST_ROW_BYTES..MOST_UNITS).contains(&(row.length * unit_bytes as u64))
            && arrangement.output_address.is_multiple_of(VECTOR_BYTES)
    }

    /// Parameters and shape of a launch of rows.
    pub fn shifted<U: Unit>(
        &self,
        input: Global<U>,
        output: GlobalMut<U>,
        sources: Option<Global<i32>>,
        targets: Option<Global<i32>>,
    ) -> (Shifted<U>, Launch) {
        let (flat, _) = self.flat::<U, U>(input, output, sources, targets);
        let of_vector = U::COUNT;
        let length = flat.axes[0].length.get();
        let is_whole = |units: i64| units.unsigned_abs().is_multiple_of(u64::from(of_vector));
        let starts_whole = is_whole(flat.output_origin) && self.axes[1..].iter().all(|axis| is_whole(axis.output_stride));
        // Where the first unit is the last of a vector, there is one more.
        let of_row = if starts_whole { length } else { length + of_vector - 1 }.div_ceil(of_vector);
        let n_vectors = flat.n_units / length * of_row;
        let lead = (self.input_lead_bytes / size_of::<U>()) as u32;
        let parameters = Shifted {
            flat,
            vectors_of_row: Divisor::new(of_row),
            n_vectors,
            lead,
            n_input_vectors: (input.length().saturating_sub(u64::from(lead)) / u64::from(of_vector)) as i64,
        };
        let launch = Launch {
            grid: [n_vectors.div_ceil(THREADS * VECTORS as u32), 1, 1],
            threads: THREADS,
            shared_bytes: 0,
        };
        (parameters, launch)
    }
}

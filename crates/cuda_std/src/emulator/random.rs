//! A small generator of lane orders.

/// Numbers that a seed decides.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, number: u32) -> Self {
        let mut random = Self(seed ^ (u64::from(number) << 32));
        random.next();
        random
    }

    /// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn shuffle(&mut self, items: &mut [usize]) {
        for end in (1..items.len()).rev() {
            let at = ((self.next() >> 32) * (end as u64 + 1)) >> 32;
            items.swap(end, at as usize);
        }
    }
}

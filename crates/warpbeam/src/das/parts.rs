//! What is summed and what is kept apart.

use ndarray::Axis;

/// Over what the delayed and weighted samples are summed; the rest becomes axes of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SumOver {
    /// Receive channels and transmits: `(batch, ..grid)`, the compounded image.
    #[default]
    ChannelsAndTransmits,
    /// Receive channels: `(batch, transmit, ..grid)`, an image a transmit.
    Channels,
    /// Transmits: `(batch, channel, ..grid)`, compounded signals of every channel, as adaptive beamformers take them.
    Transmits,
    /// Nothing: `(batch, channel, transmit, ..grid)`, every delayed and weighted sample.
    Neither,
}

/// The parts of a sum: a part for each range of channels and, within it, of transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) n_channels: usize,
    pub(super) n_transmits: usize,
    are_channels_apart: bool,
    are_transmits_apart: bool,
}

impl Parts {
    pub(super) fn new(sum_over: SumOver, n_channels: usize, n_transmits: usize) -> Self {
        Self {
            n_channels,
            n_transmits,
            are_channels_apart: matches!(sum_over, SumOver::Transmits | SumOver::Neither),
            are_transmits_apart: matches!(sum_over, SumOver::Channels | SumOver::Neither),
        }
    }

    /// Parts of a range of channels.
    pub(super) fn of_channels(self) -> usize {
        if self.are_transmits_apart { self.n_transmits } else { 1 }
    }

    pub(super) fn count(self) -> usize {
        let channels = if self.are_channels_apart { self.n_channels } else { 1 };
        channels * self.of_channels()
    }

    pub(super) fn channels_per_part(self) -> usize {
        if self.are_channels_apart { 1 } else { self.n_channels }
    }

    pub(super) fn transmits_per_part(self) -> usize {
        if self.are_transmits_apart { 1 } else { self.n_transmits }
    }

    /// The axes of the result that the parts make.
    pub(super) fn shape(self) -> Vec<usize> {
        let apart = [
            (self.are_channels_apart, self.n_channels),
            (self.are_transmits_apart, self.n_transmits),
        ];
        let kept = apart.into_iter().filter(|(is_apart, _)| *is_apart);
        kept.map(|(_, count)| count).collect()
    }

    /// The ranges of channels and transmits of a part, with the axes of channel data they are of.
    pub(super) fn ranges(self, part: usize) -> [(Axis, std::ops::Range<usize>); 2] {
        let range = |part: usize, size: usize| part * size..(part + 1) * size;
        [
            (Axis(1), range(part / self.of_channels(), self.channels_per_part())),
            (Axis(2), range(part % self.of_channels(), self.transmits_per_part())),
        ]
    }
}

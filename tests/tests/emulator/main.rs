//! Every kernel on the CPU, under an emulator that is stricter than a GPU: results against oracles, traffic against
//! what was measured on hardware.

mod copy;
mod das_batch;
mod das_distinct;
mod das_inputs;
mod das_voxel;
mod das_window;
mod far;
mod geometry;
mod greens;
mod index;
mod interpolate;
mod payload;
mod permute;
mod permute_columns;
mod probes;
mod product;
mod rank;
mod rates;
mod sort;

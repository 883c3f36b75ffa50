//! Image reconstruction from wave data at the speed of the hardware.

//! What a result depends on beside the code: device, driver, host, clocks, compilers.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;
use std::thread::available_parallelism;
use warpbeam::Backend;

/// The commit that this program was built from.
pub(crate) const COMMIT: &str = env!("WARPBEAM_COMMIT");

/// The compilers of this program and of the kernels.
pub(crate) const COMPILER: &str = env!("WARPBEAM_COMPILER");

/// A machine: results of two are never mixed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Machine {
    pub(crate) device: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) driver: Option<String>,
    pub(crate) host: String,
}

/// Clocks of a GPU, as `nvidia-smi` gives them.
// The unit belongs to every name.
#[allow(clippy::struct_field_names)]
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Clocks {
    pub(crate) multiprocessor_max_mhz: f64,
    pub(crate) memory_max_mhz: f64,
    /// Right after the last case.
    pub(crate) multiprocessor_mhz: f64,
}

impl Machine {
    /// The machine of a backend.
    pub(crate) fn of(backend: &Backend) -> Self {
        let cores = available_parallelism().map_or(1, std::num::NonZero::get);
        let processor = processor().map_or_else(String::new, |name| format!(", {name}"));
        Self {
            device: backend.name(),
            driver: backend.is_cuda().then(driver_version).flatten(),
            host: format!("{cores} cores{processor}"),
        }
    }

    /// Whether results of the other belong beside those of this one: the host counts where it is the device.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let host_counts = self.device.starts_with("CPU");
        self.device == other.device && self.driver == other.driver && (!host_counts || self.host == other.host)
    }

    /// The name of the results file.
    pub(crate) fn file_name(&self) -> String {
        if self.device.starts_with("CPU") {
            let cores = self.host.split(' ').next().unwrap_or_default();
            return format!("cpu-{cores}.json");
        }
        let name = self.device.to_lowercase();
        format!("{}.json", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.device)?;
        if let Some(driver) = &self.driver {
            write!(formatter, ", driver {driver}")?;
        }
        write!(formatter, ", host {}", self.host)
    }
}

impl Clocks {
    /// The clocks of the first GPU, if there is `nvidia-smi`.
    pub(crate) fn now() -> Option<Self> {
        let query = "--query-gpu=clocks.max.sm,clocks.max.memory,clocks.sm";
        let output = Command::new("nvidia-smi")
            .args([query, "--format=csv,noheader,nounits"])
            .output()
            .ok()?;
        Self::parse(&String::from_utf8_lossy(&output.stdout))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.lines().next()?.split(',').map(|number| number.trim().parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            multiprocessor_max_mhz: next()?,
            memory_max_mhz: next()?,
            multiprocessor_mhz: next()?,
        })
    }
}

/// The NVIDIA driver's version as its kernel module gives it, such as 580.159.04.
fn driver_version() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_version).map(str::to_owned)
}

/// The processor's name.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.split_whitespace().collect::<Vec<_>>().join(" "))
}

// What is compared is exact.
#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read() {
        let clocks = Clocks::parse("1980, 3201, 1755\n").unwrap();
        assert_eq!(
            [
                clocks.multiprocessor_max_mhz,
                clocks.memory_max_mhz,
                clocks.multiprocessor_mhz
            ],
            [1980.0, 3201.0, 1755.0]
        );
        assert!(Clocks::parse("").is_none() && Clocks::parse("[N/A], 3, 4").is_none());
    }

    #[test]
    fn another_host_is_another_machine_on_a_cpu_alone() {
        let machine = |device: &str, host: &str| Machine {
            device: device.into(),
            driver: None,
            host: host.into(),
        };
        assert!(machine("NVIDIA H200", "16 cores").is_same(&machine("NVIDIA H200", "32 cores")));
        assert!(!machine("CPU (2 threads)", "2 cores, A").is_same(&machine("CPU (2 threads)", "2 cores, B")));
        assert_eq!(machine("NVIDIA H200", "").file_name(), "nvidia-h200.json");
        assert_eq!(machine("CPU (2 threads)", "2 cores, A").file_name(), "cpu-2.json");
    }
}

//! The architectures that kernels are compiled for.

use std::fmt;

/// A virtual GPU architecture: the target of one PTX file.
///
/// | arch | first devices | `ptxas -arch` that checks it |
/// |------|---------------|------------------------------|
/// | `sm_70` | V100 | `sm_75`: `ptxas` 13 knows nothing older |
/// | `sm_80` | A100 | `sm_80` |
/// | `sm_90a` | H100, H200; runs on no other generation | `sm_90a` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Arch {
    /// Volta and everything after it.
    Sm70,
    /// Ampere and everything after it.
    Sm80,
    /// Hopper with its architecture-specific instructions (`wgmma`).
    Sm90a,
}

impl Arch {
    /// Every architecture, oldest first.
    pub const ALL: [Self; 3] = [Self::Sm70, Self::Sm80, Self::Sm90a];

    /// The name that rustc's `-C target-cpu` and PTX's `.target` use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm70 => "sm_70",
            Self::Sm80 => "sm_80",
            Self::Sm90a => "sm_90a",
        }
    }

    /// The real architecture for which `ptxas -arch` compiles this PTX when it is checked.
    pub const fn ptxas_name(self) -> &'static str {
        match self {
            Self::Sm70 => "sm_75",
            other => other.name(),
        }
    }

    /// The architecture of that name, `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|arch| arch.name() == name)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

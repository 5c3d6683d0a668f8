//! The machine that builds, and what it builds without help.

use cellar_stacks::Architecture;

/// A machine that builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host {
    system: &'static str,
    processor: &'static str,
}

impl Host {
    /// The machine that this process runs on.
    pub(crate) fn this() -> Self {
        Self { system: std::env::consts::OS, processor: std::env::consts::ARCH }
    }

    /// The architecture of functions that are as this machine is; of those that Lambda has not, the
    /// most common.
    pub(crate) fn architecture(self) -> Architecture {
        match self.processor {
            "aarch64" => Architecture::Arm64,
            _ => Architecture::X86_64,
        }
    }

    /// Whether a plain build makes a binary for functions of that architecture.
    pub(super) fn builds(self, architecture: Architecture) -> bool {
        self.system == "linux" && self.processor == processor(architecture)
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} on {}", self.system, self.processor)
    }
}

/// The name that Rust's targets have for a processor.
fn processor(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "x86_64",
        Architecture::Arm64 => "aarch64",
    }
}

/// The target whose binaries Lambda runs.
pub(super) fn target(architecture: Architecture) -> String {
    format!("{}-unknown-linux-gnu", processor(architecture))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A machine that no test runs on by chance.
    pub(in crate::bundle) const MAC: Host = Host { system: "macos", processor: "aarch64" };
    /// A machine that builds for arm64 only.
    pub(in crate::bundle) const GRAVITON: Host = Host { system: "linux", processor: "aarch64" };

    #[test]
    fn only_linux_on_the_same_processor_builds_without_help() {
        assert!(GRAVITON.builds(Architecture::Arm64));
        assert!(!GRAVITON.builds(Architecture::X86_64));
        assert!(!MAC.builds(Architecture::Arm64));
        assert_eq!(MAC.architecture(), Architecture::Arm64);
        let odd = Host { system: "linux", processor: "riscv64" };
        assert_eq!(odd.architecture(), Architecture::X86_64);
        assert!(!odd.builds(Architecture::X86_64));
    }

    #[test]
    fn targets_are_those_of_rust() {
        assert_eq!(target(Architecture::Arm64), "aarch64-unknown-linux-gnu");
        assert_eq!(target(Architecture::X86_64), "x86_64-unknown-linux-gnu");
    }
}

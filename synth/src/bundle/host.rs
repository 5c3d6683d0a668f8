//! The machine that builds the bundle.

use cellar_stacks::Architecture;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host {
    /// Name of the operating system, in the form of [`std::env::consts::OS`].
    system: &'static str,
    /// Name of the processor, in the form of [`std::env::consts::ARCH`].
    processor: &'static str,
}

impl Host {
    pub(crate) fn current() -> Self {
        Self { system: std::env::consts::OS, processor: std::env::consts::ARCH }
    }

    /// If Lambda does not support the processor, returns x86_64, the most common architecture.
    pub(crate) fn architecture(self) -> Architecture {
        match self.processor {
            "aarch64" => Architecture::Arm64,
            _ => Architecture::X86_64,
        }
    }

    pub(super) fn can_build(self, architecture: Architecture) -> bool {
        self.system == "linux" && self.processor == processor_name(architecture)
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} on {}", self.system, self.processor)
    }
}

fn processor_name(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "x86_64",
        Architecture::Arm64 => "aarch64",
    }
}

pub(super) fn target_triple(architecture: Architecture) -> String {
    format!("{}-unknown-linux-gnu", processor_name(architecture))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A machine that must cross-compile for every architecture.
    pub(in crate::bundle) const MAC: Host = Host { system: "macos", processor: "aarch64" };
    /// A machine that can build for arm64 without cross-compiling, but not for x86_64.
    pub(in crate::bundle) const GRAVITON: Host = Host { system: "linux", processor: "aarch64" };

    #[test]
    fn only_linux_on_the_same_processor_can_build() {
        assert!(GRAVITON.can_build(Architecture::Arm64));
        assert!(!GRAVITON.can_build(Architecture::X86_64));
        assert!(!MAC.can_build(Architecture::Arm64));
        assert_eq!(MAC.architecture(), Architecture::Arm64);
        let odd = Host { system: "linux", processor: "riscv64" };
        assert_eq!(odd.architecture(), Architecture::X86_64);
        assert!(!odd.can_build(Architecture::X86_64));
    }

    #[test]
    fn returns_rust_target_triples() {
        assert_eq!(target_triple(Architecture::Arm64), "aarch64-unknown-linux-gnu");
        assert_eq!(target_triple(Architecture::X86_64), "x86_64-unknown-linux-gnu");
    }
}

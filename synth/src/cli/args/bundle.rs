//! Arguments of `synth bundle`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `bundle`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth bundle\n  \
                        synth bundle --architecture arm64 -o bundle.zip\n  \
                        synth bundle --binary target/lambda/bootstrap\n\n\
                        Bundles are reproducible: the same binary gives the same file on every machine, and \
                        the file name contains the hash of the binary. A binary that Lambda cannot run is \
                        rejected: its CPU architecture, libraries and GLIBC version are checked.")]
pub(crate) struct BundleArguments {
    /// Output file or folder [default: the current folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// CPU architecture of the functions [default: architecture of the configuration]
    #[arg(long, value_enum)]
    pub(crate) architecture: Option<ArchitectureArgument>,
    /// Prebuilt `bootstrap`, or a zip that contains it, to check and pack
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
}

/// CPU architecture of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchitectureArgument {
    /// Intel and AMD
    #[value(name = "x86_64")]
    X86_64,
    /// Graviton; cheaper for the same work
    #[value(name = "arm64")]
    Arm64,
    /// The architecture of this machine
    Host,
}

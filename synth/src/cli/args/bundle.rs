//! Arguments of `synth bundle`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `bundle`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  synth bundle\n  \
                        synth bundle --architecture arm64 -o bundle.zip\n  \
                        synth bundle --bundle target/lambda/bootstrap\n\n\
                        The same binary makes the same file on every machine, and its name holds the \
                        hash of the binary. Lambda can run it, or it is refused: its processor, its \
                        libraries and the GLIBC that it needs are checked.")]
pub(crate) struct BundleArguments {
    /// Write to this file, or under its own name into this folder [default: the working folder]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Processor of the functions [default: architecture of the configuration, or the host's]
    #[arg(long, value_enum)]
    pub(crate) architecture: Option<ArchitectureArgument>,
    /// Check and pack what was built elsewhere: a `bootstrap`, or a zip with it
    #[arg(long, value_name = "FILE")]
    pub(crate) bundle: Option<PathBuf>,
}

/// The processor of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArchitectureArgument {
    /// Intel and AMD
    #[value(name = "x86_64")]
    X86_64,
    /// Graviton; cheaper for the same work
    #[value(name = "arm64")]
    Arm64,
    /// That of this machine
    Host,
}

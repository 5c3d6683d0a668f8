//! Why there is no bundle, and what to do about it.

use std::path::PathBuf;
use std::process::ExitStatus;

use cellar_stacks::Architecture;
use miette::Diagnostic;

use super::elf::ElfFault;
use super::host::{Host, target};

/// Why there is no bundle.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum BundleError {
    /// The program is not where it was built.
    #[error("Cellar's sources are not in {}", path.display())]
    #[diagnostic(
        code(synth::bundle_sources),
        help(
            "run this in a checkout of Cellar, as `cargo run -p synth -- …`; or build the bundle \
             elsewhere with `synth bundle` and pass it to `synth deploy --bundle FILE`"
        )
    )]
    Sources {
        /// Where they were.
        path: PathBuf,
    },
    /// There is no cargo.
    #[error("cannot run {}: {cause}", program.display())]
    #[diagnostic(
        code(synth::bundle_cargo),
        help(
            "install Rust as https://rustup.rs says; or build the bundle elsewhere and pass it to `synth deploy --bundle FILE`"
        )
    )]
    Cargo {
        /// What was tried.
        program: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The build failed.
    #[error("the bundle was not built: {program} ended with {status}")]
    #[diagnostic(code(synth::bundle_build), help("it said:\n{said}"))]
    Build {
        /// What ran.
        program: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// The last of what it said.
        said: String,
    },
    /// The build succeeded and left nothing.
    #[error("{program} built no `bootstrap`")]
    #[diagnostic(
        code(synth::bundle_nothing),
        help("look for a `build` section in your cargo configuration that changes what is built")
    )]
    Nothing {
        /// What ran.
        program: &'static str,
    },
    /// Another processor's binary, and nothing to build it with.
    #[error("this machine ({host}) does not build for {architecture} by itself")]
    #[diagnostic(code(synth::bundle_cross), help("{help}"))]
    Cross {
        /// This machine.
        host: Host,
        /// The functions' architecture.
        architecture: Architecture,
        /// What to install.
        help: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    #[diagnostic(
        code(synth::bundle_file),
        help("pass a zip that `synth bundle` wrote, or a `bootstrap` binary")
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A zip that is no bundle.
    #[error("{} is no bundle: {why}", path.display())]
    #[diagnostic(
        code(synth::bundle_zip),
        help("a bundle is a zip with one file, `bootstrap`; `synth bundle` writes it")
    )]
    Zip {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A binary that cannot be packed.
    #[error("the bundle cannot be packed: {0}")]
    #[diagnostic(code(synth::bundle_pack))]
    Pack(zip::result::ZipError),
    /// More than Lambda takes.
    #[error("the {what} is too large: {bytes} bytes; Lambda takes at most {limit}")]
    #[diagnostic(
        code(synth::bundle_size),
        help("build it with `--profile lambda`, which leaves out what is for debuggers")
    )]
    TooLarge {
        /// What.
        what: &'static str,
        /// How large it is, or how much of it was read.
        bytes: u64,
        /// The bound.
        limit: u64,
    },
    /// A binary that Lambda cannot run.
    #[error("Lambda cannot run {what}: {fault}")]
    #[diagnostic(code(synth::bundle_unfit), help("{help}"))]
    Unfit {
        /// Which binary.
        what: String,
        /// Why not.
        fault: Box<ElfFault>,
        /// What to do.
        help: String,
    },
}

impl BundleError {
    /// Says how to build for another processor.
    pub(super) fn cross(host: Host, architecture: Architecture) -> Self {
        let target = target(architecture);
        let help = format!(
            "install what does, and run this again:\n  pip install cargo-zigbuild\n  rustup target add \
             {target}\nor run `synth bundle` on such a machine and pass its zip to `synth deploy --bundle FILE`"
        );
        Self::Cross { host, architecture, help }
    }

    /// Refuses a binary.
    pub(super) fn unfit(what: String, fault: ElfFault, architecture: Architecture) -> Self {
        let help = fault.help(architecture);
        Self::Unfit { what, fault: Box::new(fault), help }
    }
}

//! Errors that occur when a bundle is built, read or checked.

use std::path::PathBuf;
use std::process::ExitStatus;

use cellar_stacks::Architecture;
use miette::Diagnostic;

use super::elf::ElfFault;
use super::host::{Host, target_triple};

#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum BundleError {
    #[error("the source code of Cellar was not found in {}", path.display())]
    #[diagnostic(
        code(synth::bundle_sources),
        help(
            "run the command in a checkout of Cellar with `cargo run -p synth -- …`, or build the bundle \
             elsewhere with `synth bundle` and pass it to `synth deploy --bundle FILE`"
        )
    )]
    Sources {
        /// Source directory.
        path: PathBuf,
    },
    #[error("cannot run {}: {cause}", program.display())]
    #[diagnostic(
        code(synth::bundle_cargo),
        help(
            "install Rust (https://rustup.rs), or build the bundle elsewhere and pass it to `synth deploy \
             --bundle FILE`"
        )
    )]
    Cargo {
        program: PathBuf,
        /// I/O error from the operating system.
        cause: std::io::Error,
    },
    #[error("the bundle was not built: {program} failed with {status}")]
    #[diagnostic(code(synth::bundle_build), help("fix the errors:\n{last_lines}"))]
    Build {
        /// The build command, such as `cargo build`.
        program: &'static str,
        status: ExitStatus,
        last_lines: String,
    },
    #[error("{program} succeeded but did not build the binary `bootstrap`")]
    #[diagnostic(
        code(synth::bundle_nothing),
        help("check whether a `build` section in your cargo configuration changes the target")
    )]
    NoBinary {
        /// The build command, such as `cargo build`.
        program: &'static str,
    },
    #[error("this machine ({host}) cannot build for {architecture} without a cross-compiler")]
    #[diagnostic(code(synth::bundle_cross), help("{help}"))]
    NeedsCrossCompiler {
        host: Host,
        architecture: Architecture,
        /// Instructions for installing a cross-compiler.
        help: String,
    },
    #[error("cannot read {}: {cause}", path.display())]
    #[diagnostic(
        code(synth::bundle_file),
        help("pass a zip file created by `synth bundle`, or a `bootstrap` binary")
    )]
    Read {
        path: PathBuf,
        /// I/O error from the operating system.
        cause: std::io::Error,
    },
    #[error("{} is not a bundle: {why}", path.display())]
    #[diagnostic(
        code(synth::bundle_zip),
        help(
            "a bundle is a zip file that contains only `bootstrap`; create one with `synth bundle`"
        )
    )]
    Zip {
        path: PathBuf,
        /// Description of what is malformed in the zip.
        why: String,
    },
    #[error("cannot pack the bundle: {0}")]
    #[diagnostic(code(synth::bundle_pack))]
    Pack(zip::result::ZipError),
    #[error("the {item} has {bytes} bytes; Lambda allows at most {limit}")]
    #[diagnostic(
        code(synth::bundle_size),
        help("build the binary with `--profile lambda`, which omits debug information")
    )]
    TooLarge {
        item: &'static str,
        /// Size of the file in bytes. If the file was not read to the end, the number of bytes read
        /// so far.
        bytes: u64,
        limit: u64,
    },
    #[error("Lambda cannot run {name}: {fault}")]
    #[diagnostic(code(synth::bundle_unfit), help("{help}"))]
    Unfit {
        name: String,
        /// Reason why Lambda cannot run the binary.
        fault: Box<ElfFault>,
        help: String,
    },
}

impl BundleError {
    pub(super) fn needs_cross_compiler(host: Host, architecture: Architecture) -> Self {
        let target = target_triple(architecture);
        let help = format!(
            "install a cross-compiler and run the command again:\n  pip install cargo-zigbuild\n  rustup target \
             add {target}\nor run `synth bundle` on a machine of that architecture and pass its zip to \
             `synth deploy --bundle FILE`"
        );
        Self::NeedsCrossCompiler { host, architecture, help }
    }

    pub(super) fn unfit(name: String, fault: ElfFault, architecture: Architecture) -> Self {
        let help = fault.remedy(architecture);
        Self::Unfit { name, fault: Box::new(fault), help }
    }
}

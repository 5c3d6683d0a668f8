//! Why Lambda could not run a binary.

use cellar_stacks::Architecture;

use super::rules;
use super::version::Version;
use crate::bundle::host::target;

/// Why Lambda could not run a binary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ElfFault {
    /// It is of another format.
    #[error("it is {found}, not a Linux program")]
    NotElf {
        /// What it looks like.
        found: &'static str,
    },
    /// It is for 32 bits, or another order of bytes.
    #[error("it is not for a 64-bit processor with the lowest byte first")]
    Class,
    /// It is for another processor.
    #[error("it is for {found}, and the functions are for {wanted}")]
    Machine {
        /// The processor it is for.
        found: String,
        /// The one that is configured.
        wanted: Architecture,
    },
    /// It is a library or an object file.
    #[error("it is not a program that can be started, but a library or a part of one")]
    NotProgram,
    /// Something of it cannot be read.
    #[error("it is damaged: {0}")]
    Malformed(String),
    /// It has more of something than any real program.
    #[error("it has more than {limit} {what}")]
    TooMany {
        /// What.
        what: &'static str,
        /// How many are read.
        limit: usize,
    },
    /// It names a loader that Lambda does not have.
    #[error("it is started by `{found}`, which Amazon Linux 2023 has not")]
    Loader {
        /// Path of the loader.
        found: String,
    },
    /// It needs a library that Lambda does not have.
    #[error("it needs the library `{name}`, which Amazon Linux 2023 has not")]
    Library {
        /// Name of the library.
        name: String,
    },
    /// It needs a newer library than Lambda has.
    #[error(
        "it needs {version} of {library}{}; Amazon Linux 2023 has {}",
        symbol.as_ref().map(|symbol| format!(" (for `{symbol}`)")).unwrap_or_default(),
        rules::newest(version)
    )]
    TooNew {
        /// The version, as the binary names it.
        version: String,
        /// The library's file.
        library: String,
        /// A symbol that needs it.
        symbol: Option<String>,
    },
}

impl ElfFault {
    /// What to do about it.
    pub(crate) fn help(&self, architecture: Architecture) -> String {
        let target = target(architecture);
        match self {
            Self::Machine { .. } => format!(
                "build it for {target}, or say what it is for: --architecture, or `architecture` in \
                 cellar.yaml"
            ),
            Self::Loader { .. } => format!(
                "build it with the usual tools of the target {target}, which name the loader `{}`",
                rules::loader(architecture)
            ),
            Self::Library { .. } => {
                "link that library statically, or leave it out: there are only \
                                     GLIBC's own libraries and libgcc_s"
                    .to_owned()
            }
            Self::TooNew { .. } => format!(
                "link it with an older GLIBC: `pip install cargo-zigbuild`, after which `synth \
                 bundle` does so by itself; elsewhere `cargo zigbuild --profile lambda -p \
                 cellar-runtime --bin bootstrap --target {target}.{}`, and pass the binary to \
                 `synth bundle --binary FILE`",
                rules::GLIBC
            ),
            _ => format!(
                "pass the binary that `cargo build --profile lambda -p cellar-runtime --bin \
                 bootstrap` makes on {target}, or a zip with it"
            ),
        }
    }
}

/// What a binary needs of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// The least GLIBC; `None` if it is linked statically.
    pub(crate) glibc: Option<Version>,
}

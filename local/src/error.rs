//! Errors of the local stack.

use std::io;
use std::path::PathBuf;

use cellar_runtime::settings::SettingsError;
use cellar_stacks::template::ResolveError;

use crate::database::SyncError;
use crate::disk_space;

const FREE_SPACE: &str =
    "free some space on the disk, then run the command again; nothing was lost";

/// Error while starting or running the local stack.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Another process uses the state directory.
    #[error("a local stack is already running on {}{}", folder.display(), format_location(url.as_deref()))]
    AlreadyRunning {
        /// The state folder.
        folder: PathBuf,
        /// URL of the running stack, if known.
        url: Option<String>,
    },
    /// The port is in use by another program.
    #[error("port {port} on 127.0.0.1 is used by another program")]
    PortInUse { port: u16 },
    /// Reading or writing a file failed.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// Verb for the operation that failed.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        source: io::Error,
    },
    /// Writes of the database did not reach the disk.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The disk with the state directory is full.
    #[error("the disk with {} is full", path.display())]
    DiskFull {
        /// The file that could not be written.
        path: PathBuf,
    },
    /// The state directory or a part of it is a symbolic link, so its data is stored elsewhere.
    #[error(
        "nothing was deleted: {} is a link to {}; deleting the link would not delete the data",
        link.display(),
        target.display()
    )]
    Linked {
        /// Path of the link.
        link: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// The state directory is incomplete or inconsistent.
    #[error("the state in {} is damaged: {why}", path.display())]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        why: String,
    },
    /// The state directory was written by a later version of Cellar.
    #[error("the state in {} was written by a later version of Cellar (layout {version})", path.display())]
    LaterVersion {
        /// File that contains the layout version.
        path: PathBuf,
        /// Layout version of the state directory.
        version: u32,
    },
    /// The state directory belongs to another stack.
    #[error("the state in {} belongs to the stack `{theirs}`, not `{ours}`", folder.display())]
    OtherStack {
        /// The state folder.
        folder: PathBuf,
        /// Name of the stack that owns the directory.
        theirs: String,
        /// Name of the stack that is being started.
        ours: String,
    },
    /// The key of an existing table differs from the template.
    #[error("the key of the existing table {table} differs from the key in the template")]
    TableDiffers {
        /// Name of the table.
        table: String,
    },
    /// A previously created table is missing.
    #[error("the table {table} is missing from the database")]
    TableMissing {
        /// Name of the table.
        table: String,
    },
    /// A previously created bucket is missing.
    #[error("the bucket {bucket} is missing from the state folder")]
    BucketMissing {
        /// Name of the bucket.
        bucket: String,
    },
    /// A resource property is not supported by the local stack.
    #[error("the template cannot run locally: {logical_id}: {why}")]
    Template {
        /// Logical id of the resource.
        logical_id: String,
        why: String,
    },
    /// A value in the template cannot be resolved.
    #[error("the template cannot run locally: {0}")]
    Resolve(#[from] ResolveError),
    /// The filter of an event source is invalid or not supported.
    #[error("the template cannot run locally: {logical_id}: {source}")]
    Filter {
        /// Logical id of the event source.
        logical_id: String,
        source: FilterError,
    },
    /// A function's environment variables are missing or invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An embedded server cannot start.
    #[error("{what} failed: {why}")]
    Server {
        /// The server.
        what: &'static str,
        why: String,
    },
}

fn format_location(url: Option<&str>) -> String {
    match url {
        Some(url) => format!(", at {url}"),
        None => String::new(),
    }
}

/// A filter pattern that Lambda rejects or the local stack does not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the filter pattern is not supported: {path}: {why}")]
pub struct FilterError {
    /// Path to the invalid part of the pattern, such as `dynamodb.NewImage.T`.
    pub path: String,
    pub why: String,
}

impl LocalError {
    /// Returns a hint on how to resolve the error, if there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::AlreadyRunning { .. } => {
                "use the running stack, or stop it with `synth stop`".to_owned()
            }
            Self::PortInUse { port } => format!(
                "stop that program, or select another port with `--port {}` or `local: {{port: …}}` \
                 in cellar.yaml",
                port.saturating_add(1)
            ),
            Self::Damaged { .. } | Self::TableMissing { .. } | Self::BucketMissing { .. } => {
                "nothing was changed; restore the folder from a backup, or move it away to start \
                 with an empty one"
                    .to_owned()
            }
            Self::OtherStack { theirs, .. } => format!(
                "set `stack: {theirs}` in cellar.yaml, or delete the state with \
                 `synth destroy --local --delete-data`"
            ),
            Self::DiskFull { .. } => FREE_SPACE.to_owned(),
            Self::File { source, .. } if disk_space::is_full(source) => FREE_SPACE.to_owned(),
            Self::LaterVersion { .. } => "update Cellar".to_owned(),
            Self::Linked { link, target } => format!(
                "to delete the data, delete {} and then the link {}; to keep the data, delete only \
                 the link",
                target.display(),
                link.display()
            ),
            Self::TableDiffers { .. } => {
                "nothing was changed; move the state folder away to start with an empty one"
                    .to_owned()
            }
            Self::Server { .. } => "select another port above 1023 with `--port`".to_owned(),
            _ => return None,
        };
        Some(help)
    }
}

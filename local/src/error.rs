//! What can keep a local cloud from running.

use std::io;
use std::path::PathBuf;

use cellar_runtime::settings::SettingsError;
use cellar_stacks::template::ResolveError;

use crate::events::FilterError;

/// Why the local cloud does not run.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Another process runs on this state.
    #[error("a local cloud already runs on {}{}", folder.display(), at(url.as_deref()))]
    AlreadyRunning {
        /// The state folder.
        folder: PathBuf,
        /// Its URL, if that is known.
        url: Option<String>,
    },
    /// The port is taken.
    #[error("port {port} on 127.0.0.1 is in use by another program")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// A file that cannot be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A part of the state is a link to another place.
    #[error(
        "nothing was deleted: {} is a link to {}, where the data stays if the link is deleted",
        link.display(),
        target.display()
    )]
    Linked {
        /// The link.
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The state is not what a local cloud left behind.
    #[error("the state in {} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// State of a later version.
    #[error("the state in {} was written by a later version of Cellar ({version})", path.display())]
    LaterVersion {
        /// The file.
        path: PathBuf,
        /// The version of its layout.
        version: u32,
    },
    /// State of another stack.
    #[error("the state in {} belongs to the stack `{theirs}`, not `{ours}`", folder.display())]
    OtherStack {
        /// The state folder.
        folder: PathBuf,
        /// Whose it is.
        theirs: String,
        /// Who wants it.
        ours: String,
    },
    /// A table that exists with another key.
    #[error("the table {table} exists with another key than the template has")]
    TableDiffers {
        /// Its name.
        table: String,
    },
    /// A table that was made and is not there any more.
    #[error("the table {table} is gone from the database")]
    TableGone {
        /// Its name.
        table: String,
    },
    /// A bucket that was made and is not there any more.
    #[error("the bucket {bucket} is gone from the state folder")]
    BucketGone {
        /// Its name.
        bucket: String,
    },
    /// A template that cannot be run here.
    #[error("the template cannot run locally: {logical_id}: {why}")]
    Template {
        /// The resource.
        logical_id: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value of the template that cannot be resolved.
    #[error("the template cannot run locally: {0}")]
    Resolve(#[from] ResolveError),
    /// A filter of an event source that is not one of Lambda's.
    #[error("the template cannot run locally: {logical_id}: {source}")]
    Filter {
        /// The event source.
        logical_id: String,
        /// What is wrong with it.
        source: FilterError,
    },
    /// A function's environment.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A server of the process.
    #[error("{what} failed: {why}")]
    Server {
        /// Which.
        what: &'static str,
        /// The cause.
        why: String,
    },
}

fn at(url: Option<&str>) -> String {
    url.map(|url| format!(", at {url}")).unwrap_or_default()
}

impl LocalError {
    /// What to do about it, if there is something.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::AlreadyRunning { .. } => {
                "use it, or end it with `synth destroy --local`".to_owned()
            }
            Self::PortInUse { port } => format!(
                "end that program, or choose another port: `--port {}`, or `local: {{port: …}}` \
                 in cellar.yaml",
                port.saturating_add(1)
            ),
            Self::Damaged { .. } | Self::TableGone { .. } | Self::BucketGone { .. } => {
                "nothing was changed. Restore the folder from a backup, or \
                 move it away to start with an empty one"
                    .to_owned()
            }
            Self::OtherStack { theirs, .. } => format!(
                "set `stack: {theirs}` in cellar.yaml again, or delete that state with \
                 `synth destroy --local --delete-data`"
            ),
            Self::LaterVersion { .. } => "update Cellar".to_owned(),
            Self::Linked { link, target } => format!(
                "if the data in {} is to go, delete it there and then the link {}; otherwise delete \
                 only the link",
                target.display(),
                link.display()
            ),
            Self::TableDiffers { .. } => {
                "nothing was changed. Move the state folder away to start with an empty one"
                    .to_owned()
            }
            Self::Server { .. } => "choose another port with `--port`, above 1023".to_owned(),
            _ => return None,
        })
    }
}

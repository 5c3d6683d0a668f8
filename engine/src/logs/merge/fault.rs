//! Reasons why a fork cannot be merged.

use cellar_base::limits::{MAX_MERGE_BYTES, MAX_MERGED_ENTRIES};

/// Reason why a fork cannot be merged into a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MergeFault {
    /// The log is the fork itself or inherits entries from it.
    #[error(
        "a spreadsheet cannot be merged into itself or into one of its forks; to bring later edits of the \
         source into a fork, fork the source again or use `replay`"
    )]
    NotAFork,
    /// The fork has too many unmerged edits for one merge.
    #[error(
        "the fork has more than {MAX_MERGED_ENTRIES} edits that are not merged yet; merge it in parts: \
         first up to an earlier position of the fork"
    )]
    TooManyEdits,
    /// The edits of the fork take too much memory.
    #[error(
        "the edits of the fork take more than {MAX_MERGE_BYTES} bytes; merge it in parts: first up \
         to an earlier position of the fork"
    )]
    ForkTooLarge,
    /// The edits of the log since the fork was created take too much memory.
    #[error(
        "the edits since the fork was created take more than {MAX_MERGE_BYTES} bytes; fork the \
         spreadsheet again and repeat the edits of the fork there"
    )]
    SourceTooLarge,
    /// No mutation ids are left for the edits of the fork.
    #[error("the fork has too many edits to be merged")]
    Full,
}

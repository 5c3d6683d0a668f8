//! Why a fork cannot be merged.

use cellar_base::limits::{MAX_MERGE_BYTES, MAX_MERGED_ENTRIES};

/// Reason why a fork cannot be merged into a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MergeFault {
    /// The log inherits from the spreadsheet to merge, or is the same.
    #[error(
        "only a fork can be merged, and not into itself or a fork of it; fork the source again or use \
         `replay` to bring later edits of the source into a fork"
    )]
    NotAFork,
    /// The fork has too many edits for one merge.
    #[error(
        "the fork has more than {MAX_MERGED_ENTRIES} edits that are not merged yet; merge it in parts, \
         up to an earlier position of the fork first"
    )]
    TooManyEdits,
    /// The edits of the fork take too much memory.
    #[error(
        "the edits of the fork take more than {MAX_MERGE_BYTES} bytes; merge it in parts, up to an \
         earlier position of the fork first"
    )]
    ForkTooLarge,
    /// The edits of the log since the fork take too much memory.
    #[error(
        "the edits since the fork was created take more than {MAX_MERGE_BYTES} bytes; fork the \
         spreadsheet again and repeat the edits of the fork there"
    )]
    SourceTooLarge,
    /// The numbers of the edits are used up.
    #[error("the fork has too many edits to be merged")]
    Full,
}

//! Types of HTTP requests and responses, shared by the server and its clients. Positions are
//! encoded as single numbers. Requests with unknown fields are rejected.

mod append;
mod catalog;
mod cell_history;
mod cells;
mod chunks;
mod client_key;
mod config;
mod create;
mod entries;
mod feed;
mod forks;
mod health;
mod history;
mod imports;
mod merges;
mod position_or_time;
mod presence;
mod problem;
mod search;
mod stats;
mod sync;
mod trace;
mod uploads;
mod webhook;

pub use append::{AppendReply, AppendRequest, AppendedMutation, MutationStatus, SentMutation};
pub use catalog::{
    ChangeView, ChangesReply, DetailsReply, LinkReply, LinkRequest, LinkView, PersonRequest,
    ShareRequest, SpreadsheetStatus, UpdateDetailsRequest,
};
pub use cell_history::{
    CellHistoryChange, CellHistoryCursor, CellHistoryEntry, CellHistoryReply,
    NotACellHistoryCursor, RecoveredCells, Recovery,
};
pub use cellar_sheet::workbook::{CellAt, ReversalCounts, ReversalReport};
pub use cells::{CellsReply, ReplyFormats};
pub use chunks::{ChunksReply, ChunksRequest};
pub use config::{LoginIssuer, StackConfig};
pub use create::{CreateReply, CreateRequest, Head, Poke};
pub use entries::{
    EntriesReply, EntryKind, EntryView, ExternalBody, LoadReply, MutationView, NamedSheet,
    SheetAxisMaps,
};
pub use feed::{
    EventRange, FeedItemView, FeedReply, ListQuery, SpreadsheetView, SpreadsheetsReply,
};
pub use forks::{ForkReply, ForkRequest, ForkSource, ForkView, ForksReply};
pub use health::{DependencyStatus, Health};
pub use history::{DiffReply, HistoryReply, NameView, SheetView, SheetsReply};
pub use imports::{
    ChunkUpload, ImportCheckReply, ImportCheckRequest, ImportUploadsReply, ImportUploadsRequest,
    NewChunk, UploadedChunk,
};
pub use merges::{
    CellInConflict, MergeCounts, MergeReply, MergeRequest, MergedEditView, MergedView,
};
pub use position_or_time::{NotAPositionOrTime, PositionOrTime};
pub use presence::{BadSelection, PresenceReply, PresenceRequest, PresenceView, Selection};
pub use problem::{Problem, ProblemKind};
pub use search::{FilterReply, FindCursor, FindReply, FoundCell, NotAFindCursor, PageSum};
pub use stats::{LevelStats, OpenStats, SnapshotStats, StatsReply};
pub use sync::{
    MutationArguments, PatchOperation, PatchValue, PullReply, PullRequest, PullResponse, PushReply,
    PushRequest, PushResponse, PushStatus, PushedMutation, PushedResult, SyncError,
    SyncErrorResponse,
};
pub use trace::{TraceReply, TracedArea, TracedCell};
pub use uploads::{CompleteRequest, NotASha256, UploadReply, UploadRequest, parse_sha256};

pub use webhook::WebhookDelivery;

pub use cellar_base::hexadecimal::hexadecimal;

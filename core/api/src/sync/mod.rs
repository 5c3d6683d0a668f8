//! The Replicache protocol: the decisions of push and pull.
//!
//! Entries contain the client and mutation ids, so that the effect of a mutation and its
//! acknowledgement become visible together. Nothing else is stored: the last mutation id of a
//! client follows from the entries and from the client map of the snapshot root.

mod cookie;
mod mutation;
mod pull;
mod push;
mod runs;
#[cfg(test)]
mod tests;

pub use cookie::{Cookie, CookieView, SCHEMA_VERSIONS};
pub use mutation::{ParsedArguments, Pushed, parse_arguments};
pub use pull::{ClientIds, PullPlan, entry_key, plan_pull};
pub use push::{LookedUp, PushAction, PushEvent, PushOutcome, PushRules, PushSafetyRule, RunPush};
pub use runs::{Run, group_into_runs};

//! Replicache protocol: handles push and pull requests.
//!
//! Each entry contains the client id and the ids of its mutations, so the effect and the
//! acknowledgement of a mutation become visible together. No other state is stored. A client's last
//! mutation id is derived from the entries and from the client map in the root (the main object) of
//! the latest snapshot.

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

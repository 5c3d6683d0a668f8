//! The Replicache protocol, a superset: push and pull as decisions.
//!
//! Client and mutation id stand inside the log's entries, so that effect and acknowledgement appear
//! together. Nothing is stored besides: what a client's last mutation is, the entries and the root's
//! client map say.

mod cookie;
mod mutation;
mod pull;
mod push;
mod runs;
#[cfg(test)]
mod tests;

pub use cookie::{Cookie, CookieView, SCHEMA_VERSIONS};
pub use mutation::{Asked, Pushed, read_mutation};
pub use pull::{ClientIds, PullPlan, entry_key, plan_pull};
pub use push::{LookedUp, PushAction, PushEvent, PushOutcome, PushRules, PushSafetyRule, RunPush};
pub use runs::{Run, runs};

//! Push and pull requests of the Replicache protocol.
//!
//! Each entry of the log contains the ids of its client and mutations. A mutation and its
//! acknowledgement therefore become visible at the same time. No other state is stored. A client's
//! last mutation id is read from the entries and from the newest snapshot.

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
pub use push::{
    LookedUp, PushAction, PushEvent, PushOutcome, PushRefusal, PushRules, PushSafetyRule, RunPush,
};
pub use runs::{Run, group_into_runs};

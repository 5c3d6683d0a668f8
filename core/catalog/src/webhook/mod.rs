//! The webhook, which delivers the feed to a URL in order and at least once.
//!
//! Each delivery is the page of the feed that follows the last accepted page, so items that the
//! receiver has missed are delivered first. How far the feed has been delivered is stored after
//! each accepted page. [`Delivering`] is the state machine that makes all decisions.
//!
//! The HTTP requests follow the Standard Webhooks specification.

mod delivering;
mod receivers;

pub use delivering::{
    Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page, WebhookProgress,
};
pub use receivers::Receivers;

/// The prefix of every signing secret, as required by Standard Webhooks.
pub const SECRET_PREFIX: &str = "whsec_";
/// The header with the delivery id, which remains the same when a delivery is retried.
pub const ID_HEADER: &str = "webhook-id";
/// The header with the sending time, in seconds since the Unix epoch. The time is signed, so that
/// receivers can reject replayed deliveries.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// The header with the signatures, separated by spaces. There is one signature per secret.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// Value of the `type` field in every delivery.
pub const FEED_TYPE: &str = "cellar.feed";

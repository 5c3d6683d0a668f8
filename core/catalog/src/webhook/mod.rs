//! The webhook: delivers the feed to a URL, at least once and in order.
//!
//! Each delivery is the feed page that follows the last accepted page. If the receiver missed
//! items, they are therefore delivered first. When the receiver has accepted a page, the progress
//! is persisted. [`Delivering`] is a pure state machine that makes all decisions. The HTTP requests
//! follow the Standard Webhooks specification.

mod delivering;
mod receivers;

pub use delivering::{
    Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page, WebhookProgress,
};
pub use receivers::Receivers;

/// Prefix of every signing secret, as specified by Standard Webhooks.
pub const SECRET_PREFIX: &str = "whsec_";
/// Header with the delivery id. A retry of an unchanged delivery has the same id.
pub const ID_HEADER: &str = "webhook-id";
/// Header with the sending time in seconds since the Unix epoch. The signature includes the time,
/// so that receivers can reject replayed deliveries.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// Header with the signatures, one per secret, separated by spaces.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// Value of the `type` field in every delivery.
pub const FEED_TYPE: &str = "cellar.feed";

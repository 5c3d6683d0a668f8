//! The webhook, which delivers the feed to a URL at least once and in order.
//!
//! Each delivery is the page of the feed after the last accepted page, so that items that the
//! receiver missed are delivered first. The progress is stored after the receiver has accepted a
//! page. [`Delivering`] is a pure state machine that makes all decisions. The HTTP requests follow
//! Standard Webhooks.

mod delivering;
mod receivers;

pub use delivering::{
    Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page, WebhookProgress,
};
pub use receivers::Receivers;

/// Prefix of every signing secret (Standard Webhooks).
pub const SECRET_PREFIX: &str = "whsec_";
/// Header with the id of a delivery. A retry of an unchanged delivery has the same id.
pub const ID_HEADER: &str = "webhook-id";
/// Header with the time of sending, Unix seconds. The time is signed, so that receivers can refuse
/// old deliveries.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// Header with the signatures, one per secret, separated by spaces.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// Value of `type` in every delivery.
pub const FEED_TYPE: &str = "cellar.feed";

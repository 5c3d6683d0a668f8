//! The webhook, which delivers the feed to a URL at least once and in order.
//!
//! Each delivery is the page of the feed that follows the last accepted page, so that items that
//! the receiver missed are delivered first. The progress is stored after the receiver has accepted
//! a page. [`Delivering`] is a pure state machine that makes all decisions. The HTTP requests
//! follow the Standard Webhooks specification.

mod delivering;
mod receivers;

pub use delivering::{
    Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page, WebhookProgress,
};
pub use receivers::Receivers;

/// Prefix of every signing secret, as in Standard Webhooks.
pub const SECRET_PREFIX: &str = "whsec_";
/// Header that contains the id of a delivery. A retry of an unchanged delivery has the same id.
pub const ID_HEADER: &str = "webhook-id";
/// Header that contains the time of sending, in Unix seconds. The time is part of the signed
/// content, so that receivers can refuse old deliveries.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// Header that contains the signatures: one per secret, separated by spaces.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// Value of the field `type` in every delivery.
pub const FEED_TYPE: &str = "cellar.feed";

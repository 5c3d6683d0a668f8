//! The webhook: the feed, delivered to a URL.
//!
//! Each delivery is a page of the feed from where the last one ended, so that whatever was missed while the
//! receiver was away comes first. It is at least once: how far it has come is kept after the receiver has
//! accepted a page, never before. [`Delivering`] decides; the HTTP is Standard Webhooks.

mod delivering;
mod receivers;

pub use delivering::{
    Delivering, DeliveryAction, DeliveryAnswer, DeliveryOutcome, Page, WebhookProgress,
};
pub use receivers::Receivers;

/// What every secret begins with (Standard Webhooks).
pub const SECRET_PREFIX: &str = "whsec_";
/// Header: the id of a delivery; one that is repeated unchanged has the same.
pub const ID_HEADER: &str = "webhook-id";
/// Header: when it was sent, Unix seconds; it is signed, too, so that receivers can refuse old ones.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// Header: the signatures, one for each secret, separated by spaces.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// The `type` of what is delivered.
pub const FEED_TYPE: &str = "cellar.feed";

//! CORS as a function URL answers it, from the template's own property.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method};
use serde_json::Value;
use tower_http::cors::CorsLayer;

/// The layer for a `Cors` property; without one there are no CORS answers.
pub(crate) fn layer(cors: &Value) -> CorsLayer {
    let texts = |field: &str| {
        let items = cors.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
        items.into_iter().filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let origins: Vec<HeaderValue> = parse(&texts("AllowOrigins"));
    let methods: Vec<Method> = parse(&texts("AllowMethods"));
    let requested: Vec<HeaderName> = parse(&texts("AllowHeaders"));
    let exposed: Vec<HeaderName> = parse(&texts("ExposeHeaders"));
    let max_age_s = cors.get("MaxAge").and_then(Value::as_u64).unwrap_or_default();
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods(methods)
        .allow_headers(requested)
        .expose_headers(exposed)
        .max_age(Duration::from_secs(max_age_s))
}

fn parse<T: std::str::FromStr>(texts: &[String]) -> Vec<T> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

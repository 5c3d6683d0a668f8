//! CORS as a function URL or a bucket answers it, from the template's own property.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method};
use serde_json::Value;
use tower_http::cors::CorsLayer;

/// What a property calls the parts of a CORS rule.
struct Fields {
    origins: &'static str,
    methods: &'static str,
    requested: &'static str,
    exposed: &'static str,
}

const FUNCTION_URL: Fields = Fields {
    origins: "AllowOrigins",
    methods: "AllowMethods",
    requested: "AllowHeaders",
    exposed: "ExposeHeaders",
};

const BUCKET: Fields = Fields {
    origins: "AllowedOrigins",
    methods: "AllowedMethods",
    requested: "AllowedHeaders",
    exposed: "ExposedHeaders",
};

/// The layer for the `Cors` property of a function URL; without one there are no CORS answers.
pub(crate) fn layer(cors: &Value) -> CorsLayer {
    layer_of(cors, &FUNCTION_URL)
}

/// The layer for a rule of a bucket's `CorsConfiguration`.
pub(crate) fn bucket_layer(rule: &Value) -> CorsLayer {
    layer_of(rule, &BUCKET)
}

fn layer_of(cors: &Value, fields: &Fields) -> CorsLayer {
    let texts = |field: &str| {
        let items = cors.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
        items.into_iter().filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let origins: Vec<HeaderValue> = parse(&texts(fields.origins));
    let methods: Vec<Method> = parse(&texts(fields.methods));
    let requested: Vec<HeaderName> = parse(&texts(fields.requested));
    let exposed: Vec<HeaderName> = parse(&texts(fields.exposed));
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

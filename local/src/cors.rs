//! Builds CORS layers from the template's function URL and buckets.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method};
use serde_json::Value;
use tower_http::cors::CorsLayer;

use crate::names;

struct FieldNames {
    origins: &'static str,
    methods: &'static str,
    headers: &'static str,
    exposed_headers: &'static str,
}

const FUNCTION_URL: FieldNames = FieldNames {
    origins: "AllowOrigins",
    methods: "AllowMethods",
    headers: "AllowHeaders",
    exposed_headers: "ExposeHeaders",
};

const BUCKET: FieldNames = FieldNames {
    origins: "AllowedOrigins",
    methods: "AllowedMethods",
    headers: "AllowedHeaders",
    exposed_headers: "ExposedHeaders",
};

pub(crate) fn function_url_layer(cors: &Value) -> CorsLayer {
    build_layer(cors, &FUNCTION_URL)
}

/// The origins of all function URLs become the origin of the only function URL of this machine.
pub(crate) fn bucket_layer(rule: &Value, page_origin: &str) -> CorsLayer {
    let mut rule = rule.clone();
    let origins = rule.get_mut(BUCKET.origins).and_then(Value::as_array_mut);
    for origin in origins.into_iter().flatten() {
        if origin.as_str() == Some(&names::function_url_origins()) {
            *origin = page_origin.into();
        }
    }
    build_layer(&rule, &BUCKET)
}

fn build_layer(cors: &Value, field_names: &FieldNames) -> CorsLayer {
    let max_age_s = cors.get("MaxAge").and_then(Value::as_u64).unwrap_or_default();
    CorsLayer::new()
        .allow_origin(parse_list::<HeaderValue>(cors, field_names.origins))
        .allow_methods(parse_list::<Method>(cors, field_names.methods))
        .allow_headers(parse_list::<HeaderName>(cors, field_names.headers))
        .expose_headers(parse_list::<HeaderName>(cors, field_names.exposed_headers))
        .max_age(Duration::from_secs(max_age_s))
}

/// Skips malformed values.
fn parse_list<T: std::str::FromStr>(cors: &Value, field: &str) -> Vec<T> {
    let Some(values) = cors.get(field).and_then(Value::as_array) else { return Vec::new() };
    values.iter().filter_map(Value::as_str).filter_map(|text| text.parse().ok()).collect()
}

//! `GET /v1/openapi.json`.

use axum::Json;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cellar",
        description = "Spreadsheets as append-only logs: edit, read and follow them.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        super::create::create,
        super::entries::load,
        super::entries::update,
        super::append::append,
        super::cells::cells,
        super::head::head,
        super::health::health,
        openapi
    ),
    modifiers(&BearerToken)
)]
struct Document;

struct BearerToken;

impl Modify for BearerToken {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// The description of the API.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// This description.
#[utoipa::path(
    get,
    path = "/v1/openapi.json",
    responses((status = 200, description = "The description of this API"))
)]
pub(super) async fn openapi() -> Json<utoipa::openapi::OpenApi> {
    Json(document())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_defined() {
        let json = serde_json::to_value(document()).unwrap();
        let mut references = vec![];
        collect(&json, &mut references);
        assert!(references.len() > 10, "{references:?}");
        for reference in references {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(json.pointer(pointer).is_some(), "{reference} is not defined");
        }
    }

    fn collect(json: &serde_json::Value, references: &mut Vec<String>) {
        match json {
            serde_json::Value::Object(map) => {
                references.extend(map.get("$ref").and_then(|r| r.as_str()).map(str::to_owned));
                map.values().for_each(|value| collect(value, references));
            }
            serde_json::Value::Array(items) => {
                items.iter().for_each(|item| collect(item, references));
            }
            _ => {}
        }
    }
}

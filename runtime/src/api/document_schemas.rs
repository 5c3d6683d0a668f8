//! Describes in the OpenAPI document what the macros of utoipa cannot express: cell values,
//! operations with exactly one field, server-sent events and the header `If-Match`.

use cellar_base::limits::MAX_TEXT_BYTES;
use cellar_sheet::cell::Value;
use serde_json::json;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{
    AdditionalProperties, Object, ObjectBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::{OpenApi, Ref, RefOr};
use utoipa::{Modify, PartialSchema as _};

use super::document::path_operations;

/// Name of the schema of a cell value. utoipa takes a type called `Value` for any JSON.
const CELL_VALUE: &str = "CellValue";
const EVENT_STREAM: &str = "text/event-stream";

/// Corrects the schemas of cells, operations, events and headers.
pub(super) struct Corrections;

impl Modify for Corrections {
    fn modify(&self, document: &mut OpenApi) {
        let schemas = &mut document.components.as_mut().unwrap().schemas;
        schemas.insert(CELL_VALUE.to_owned(), cell_value());
        for name in ["Cell", "CellEdit"] {
            let RefOr::T(Schema::Object(cell)) = schemas.get_mut(name).unwrap() else {
                panic!("{name} is not an object");
            };
            describe_value(cell);
        }
        let RefOr::T(Schema::OneOf(operation)) = schemas.get_mut("Operation").unwrap() else {
            panic!("an operation has no variants");
        };
        operation.items.iter_mut().for_each(close);
        for operation in document.paths.paths.values_mut().flat_map(path_operations) {
            for parameter in operation.parameters.iter_mut().flatten() {
                if parameter.name == "If-Match" {
                    parameter.schema = Some(text().into());
                }
            }
            for response in operation.responses.responses.values_mut() {
                let RefOr::T(response) = response else { continue };
                if let Some(content) = response.content.get_mut(EVENT_STREAM) {
                    content.schema = content.schema.take().map(|data| event_of(&data));
                }
            }
        }
    }
}

/// Returns the schema of a cell value, with the maximum length of a text.
fn cell_value() -> RefOr<Schema> {
    let mut schema = Value::schema();
    let RefOr::T(Schema::OneOf(kinds)) = &mut schema else { panic!("a value has one kind") };
    for kind in &mut kinds.items {
        if let RefOr::T(Schema::Object(object)) = kind
            && object.schema_type == SchemaType::Type(Type::String)
        {
            object.max_length = Some(MAX_TEXT_BYTES);
        }
    }
    schema
}

/// Refers to the schema of cell values, and keeps the description.
fn describe_value(cell: &mut Object) {
    let RefOr::T(Schema::Object(any)) = cell.properties.get_mut("value").unwrap() else {
        panic!("the value of a cell is described");
    };
    let mut reference = Ref::from_schema_name(CELL_VALUE);
    reference.description = any.description.take().unwrap_or_default();
    cell.properties.insert("value".to_owned(), reference.into());
}

/// Disallows other properties: an operation has one field.
fn close(variant: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = variant else { panic!("a variant is not an object") };
    object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
}

/// Returns the schema of an event whose data is JSON of a schema.
fn event_of(data: &RefOr<Schema>) -> RefOr<Schema> {
    let content_schema = [("contentSchema", json!(data))];
    let data = text()
        .content_media_type("application/json")
        .extensions(Some(Extensions::from_iter(content_schema)));
    ObjectBuilder::new().property("data", data).required("data").into()
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

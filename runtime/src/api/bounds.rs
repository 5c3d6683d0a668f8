//! Adds the bounds of request values to the OpenAPI document. Each bound is the constant that the
//! server checks, so the test of the committed document fails if they differ.
//!
//! JSON Schema counts the characters of a text, but the server counts its bytes. A text of other
//! characters than ASCII may therefore be rejected although it satisfies `maxLength`.

use cellar_api::sync::SCHEMA_VERSIONS;
use cellar_base::limits::{
    MAX_AUTHOR_BYTES, MAX_CELLS_PER_OPERATION, MAX_CHECKPOINT, MAX_CHUNK_URLS, MAX_CLIENT_ID_BYTES,
    MAX_COLUMNS, MAX_DEFINED_NAME_BYTES, MAX_DEFINED_NAME_FORMULA_BYTES, MAX_FEED_PAGE_ITEMS,
    MAX_FORMAT_BYTES, MAX_FORMULA_BYTES, MAX_IMPORT_OBJECTS, MAX_INSERT, MAX_ISSUER_BYTES,
    MAX_LINK_LABEL_BYTES, MAX_LIST_PAGE, MAX_MUTATION_ID, MAX_MUTATIONS_PER_REQUEST,
    MAX_NONCE_BYTES, MAX_PAGE_ENTRIES, MAX_REJECTION_BYTES, MAX_ROWS, MAX_SEARCH_BYTES,
    MAX_SHEET_NAME_CHARACTERS, MAX_SPANS, MAX_SPREADSHEET_NAME_BYTES, MAX_STORED_CHUNK_BYTES,
    MAX_UPLOAD_BYTES,
};
use utoipa::Modify;
use utoipa::openapi::schema::{
    ArrayItems, KnownFormat, Object, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{OpenApi, RefOr};

use super::document::path_operations;
use super::sync::PROTOCOL_VERSION;

/// A text without control characters.
const LINE: &str = r"^[^\u0000-\u001F\u007F-\u009F]*$";
/// A text without control characters, with at least one visible character.
const NAME: &str = r"^[^\u0000-\u001F\u007F-\u009F]*[^\s\u0000-\u001F\u007F-\u009F][^\u0000-\u001F\u007F-\u009F]*$";
/// A sheet name: no control character, none of `[ ] : * ? / \`, and no apostrophe at either end.
const SHEET_NAME: &str = r"^[^\u0000-\u001F\u007F-\u009F\[\]:*?/\\']([^\u0000-\u001F\u007F-\u009F\[\]:*?/\\]*[^\u0000-\u001F\u007F-\u009F\[\]:*?/\\'])?$";
/// A defined name. Cells, and characters that are neither letters nor digits, are refused although they
/// satisfy the pattern.
const DEFINED_NAME: &str = r"^[A-Za-z_\u0080-\uFFFF][A-Za-z0-9_.\u0080-\uFFFF]*$";
/// The name of a snapshot object.
const CHUNK_HASH: &str = "^[0-9a-f]{64}$";
const SHA256: &str = "^[0-9A-Fa-f]{64}$";
/// Eight bytes: the id of a share link, or a generation of the feed.
const EIGHT_BYTES: &str = "^[0-9A-Fa-f]{16}$";
/// Sixteen bytes in base64url. The last character contains only two bits.
const LINK_SECRET: &str = "^[A-Za-z0-9_-]{21}[AQgw]$";
const ETAG: &str = "^\"[0-9]{1,19}\"$";
/// Incarnation and position of a cookie.
const COOKIE_ORDER: &str = "^[0-9a-f]{24}$";
/// A cell in A1 notation. Dollar signs are ignored.
const CELL: &str = r"^\$?[A-Za-z]+\$?0*[1-9][0-9]*$";
/// A range in A1 notation: a cell, two cells, columns or rows, optionally of a named sheet.
const RANGE: &str = r"^(('([^']|'')+'|[^'!]+)!)?(\$?[A-Za-z]+\$?0*[1-9][0-9]*(:\$?[A-Za-z]+\$?0*[1-9][0-9]*)?|\$?[A-Za-z]+:\$?[A-Za-z]+|\$?0*[1-9][0-9]*:\$?0*[1-9][0-9]*)$";
/// Position, sheet, row spans and column spans.
const CELL_HISTORY_CURSOR: &str = r"^[0-9]{1,16}~[0-9]{1,10}(~[0-9]{1,10}-[1-9][0-9]{0,9}(\.[0-9]{1,10}-[1-9][0-9]{0,9}){0,99}){2}$";
/// Number of a sheet, and a cell.
const FIND_CURSOR: &str = r"^[0-9]{1,10}~\$?[A-Za-z]+\$?0*[1-9][0-9]*$";
const COLUMN_LETTERS: &str = "^[A-Za-z]+$";
/// The bytes of a tile index in Base64.
const BASE64: &str = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";

/// A bound of a value.
#[derive(Clone, Copy)]
enum Bound {
    /// Minimum and maximum length of a text.
    Length(usize, usize),
    /// Regular expression that a text matches.
    Pattern(&'static str),
    /// Minimum and maximum of a number.
    Number(u64, u64),
    /// Minimum and maximum number of items of a list.
    Items(usize, usize),
    /// The allowed texts.
    Texts(&'static [&'static str]),
}

use Bound::{Items, Length, Number, Pattern, Texts};

const CLIENT_ID: Bound = Length(1, MAX_CLIENT_ID_BYTES);
const NONCE: Bound = Length(1, MAX_NONCE_BYTES);
const SPREADSHEET_NAME: Bound = Length(1, MAX_SPREADSHEET_NAME_BYTES);
const SHEET_NAME_LENGTH: Bound = Length(1, MAX_SHEET_NAME_CHARACTERS);
const SUBJECT: Bound = Length(1, MAX_AUTHOR_BYTES);
const ISSUER: Bound = Length(1, MAX_ISSUER_BYTES);
const MUTATION_ID: Bound = Number(1, MAX_MUTATION_ID);
const ACKNOWLEDGED_ID: Bound = Number(0, MAX_MUTATION_ID);
const ROW: Bound = Number(0, MAX_ROWS as u64 - 1);
const COLUMN: Bound = Number(0, MAX_COLUMNS as u64 - 1);
const FORMAT: Bound = Length(1, MAX_FORMAT_BYTES);
const CHUNK_BYTES: Bound = Number(1, MAX_STORED_CHUNK_BYTES as u64);
const UPLOAD_BYTES: Bound = Number(1, MAX_UPLOAD_BYTES as u64);
const VERSION: Bound = Number(PROTOCOL_VERSION as u64, PROTOCOL_VERSION as u64);
const ANY_NUMBER: Bound = Number(0, u64::MAX);

/// The schema of a request to push mutations.
const PUSH: &str = "PushRequest_PushedMutation_MutationArguments";

/// Bounds of properties, as schema, path of the property and bound. `[]` names the items of a list.
const PROPERTIES: &[(&str, &str, Bound)] = &[
    ("AddSheet", "name", SHEET_NAME_LENGTH),
    ("AddSheet", "name", Pattern(SHEET_NAME)),
    ("AppendRequest", "acked_id", ACKNOWLEDGED_ID),
    ("AppendRequest", "client_id", CLIENT_ID),
    ("AppendRequest", "mutations", Items(1, MAX_MUTATIONS_PER_REQUEST)),
    ("CellEdit", "column", COLUMN),
    ("CellEdit", "format", FORMAT),
    ("CellEdit", "formula", Length(0, MAX_FORMULA_BYTES)),
    ("CellEdit", "row", ROW),
    ("ChunksRequest", "hashes", Items(0, MAX_CHUNK_URLS)),
    ("ChunksRequest", "hashes.[]", Pattern(CHUNK_HASH)),
    ("CompleteRequest", "acked_id", ACKNOWLEDGED_ID),
    ("CompleteRequest", "bytes", UPLOAD_BYTES),
    ("CompleteRequest", "client_id", CLIENT_ID),
    ("CompleteRequest", "first_id", MUTATION_ID),
    ("CompleteRequest", "sha256", Pattern(SHA256)),
    ("CookieView", "order", Pattern(COOKIE_ORDER)),
    ("CreateRequest", "name", SPREADSHEET_NAME),
    ("CreateRequest", "name", Pattern(NAME)),
    ("CreateRequest", "nonce", NONCE),
    ("Extent", "columns", Number(0, MAX_COLUMNS as u64)),
    ("Extent", "rows", Number(0, MAX_ROWS as u64)),
    ("ForkRequest", "name", SPREADSHEET_NAME),
    ("ForkRequest", "name", Pattern(NAME)),
    ("ForkRequest", "nonce", NONCE),
    ("ImportCheckRequest", "client_id", CLIENT_ID),
    ("ImportCheckRequest", "tiles", Items(0, MAX_IMPORT_OBJECTS)),
    ("ImportSheet", "cells", ANY_NUMBER),
    ("ImportSheet", "formulas", ANY_NUMBER),
    ("ImportSheet", "name", SHEET_NAME_LENGTH),
    ("ImportSheet", "name", Pattern(SHEET_NAME)),
    ("ImportUploadsRequest", "chunks", Items(1, MAX_IMPORT_OBJECTS)),
    ("ImportUploadsRequest", "client_id", CLIENT_ID),
    ("InsertBefore", "count", Number(1, MAX_INSERT as u64)),
    ("LinkRequest", "expires_s", ANY_NUMBER),
    ("LinkRequest", "label", Length(0, MAX_LINK_LABEL_BYTES)),
    ("LinkRequest", "label", Pattern(LINE)),
    ("LinkRequest", "secret", Pattern(LINK_SECRET)),
    ("NewChunk", "bytes", CHUNK_BYTES),
    ("NewChunk", "hash", Pattern(CHUNK_HASH)),
    ("NewChunk", "sha256", Pattern(SHA256)),
    ("PresenceRequest", "client_id", CLIENT_ID),
    ("PullRequest", "clientGroupID", CLIENT_ID),
    ("PullRequest", "pullVersion", VERSION),
    ("PullRequest", "schemaVersion", Texts(&SCHEMA_VERSIONS)),
    (PUSH, "clientGroupID", CLIENT_ID),
    (PUSH, "mutations.[].clientID", CLIENT_ID),
    (PUSH, "mutations.[].id", MUTATION_ID),
    (PUSH, "pushVersion", VERSION),
    (PUSH, "schemaVersion", Texts(&SCHEMA_VERSIONS)),
    ("Rejection", "detail", Length(0, MAX_REJECTION_BYTES)),
    ("RenameSheet", "name", SHEET_NAME_LENGTH),
    ("RenameSheet", "name", Pattern(SHEET_NAME)),
    ("Selection", "first_column", COLUMN),
    ("Selection", "first_row", ROW),
    ("Selection", "last_column", COLUMN),
    ("Selection", "last_row", ROW),
    ("SentMutation", "id", MUTATION_ID),
    ("SetCells", "cells", Items(1, MAX_CELLS_PER_OPERATION)),
    ("SetFormat", "format", FORMAT),
    ("SetName", "formula", Length(2, MAX_DEFINED_NAME_FORMULA_BYTES)),
    ("SetName", "formula", Pattern("^=")),
    ("SetName", "name", Length(1, MAX_DEFINED_NAME_BYTES)),
    ("SetName", "name", Pattern(DEFINED_NAME)),
    ("ShareRequest", "issuer", ISSUER),
    ("ShareRequest", "issuer", Pattern(LINE)),
    ("ShareRequest", "subject", SUBJECT),
    ("ShareRequest", "subject", Pattern(LINE)),
    ("Spans", "", Items(1, MAX_SPANS)),
    ("TileIndex", "", Pattern(BASE64)),
    ("UpdateDetailsRequest", "name", SPREADSHEET_NAME),
    ("UpdateDetailsRequest", "name", Pattern(NAME)),
    ("UploadRequest", "bytes", UPLOAD_BYTES),
    ("UploadRequest", "sha256", Pattern(SHA256)),
    ("UploadedChunk", "bytes", CHUNK_BYTES),
    ("UploadedChunk", "hash", Pattern(CHUNK_HASH)),
];

/// Bounds of parameters, as operation, parameter and bound.
const PARAMETERS: &[(&str, &str, Bound)] = &[
    ("comparePositions", "cursor", ANY_NUMBER),
    ("compareSpreadsheets", "cursor", ANY_NUMBER),
    ("createLink", "If-Match", Pattern(ETAG)),
    ("filterRows", "cursor", Pattern(CELL)),
    ("filterRows", "range", Pattern(RANGE)),
    ("filterRows", "sum", Pattern(COLUMN_LETTERS)),
    ("filterRows", "where", Length(1, MAX_SEARCH_BYTES)),
    ("findCells", "cursor", Pattern(FIND_CURSOR)),
    ("findCells", "range", Pattern(RANGE)),
    ("findCells", "text", Length(1, MAX_SEARCH_BYTES)),
    ("getCells", "cursor", Pattern(CELL)),
    ("getCells", "range", Pattern(RANGE)),
    ("traceCell", "cell", Pattern(CELL)),
    ("listCellHistory", "author", Length(0, MAX_AUTHOR_BYTES)),
    ("listCellHistory", "cursor", Pattern(CELL_HISTORY_CURSOR)),
    ("listCellHistory", "limit", Number(1, MAX_PAGE_ENTRIES as u64)),
    ("listCellHistory", "range", Pattern(RANGE)),
    ("listDetailsChanges", "cursor", ANY_NUMBER),
    ("listFeedItems", "after", Number(0, MAX_CHECKPOINT)),
    ("listFeedItems", "generation", Pattern(EIGHT_BYTES)),
    ("listFeedItems", "limit", Number(1, MAX_FEED_PAGE_ITEMS as u64)),
    ("listForks", "cursor", ANY_NUMBER),
    ("listHistory", "limit", Number(1, MAX_PAGE_ENTRIES as u64)),
    ("listPresence", "client_id", CLIENT_ID),
    ("listSpreadsheets", "limit", Number(1, MAX_LIST_PAGE as u64)),
    ("listSpreadsheets", "name", SPREADSHEET_NAME),
    ("listSpreadsheets", "name", Pattern(NAME)),
    ("removeMember", "If-Match", Pattern(ETAG)),
    ("removeMember", "issuer", ISSUER),
    ("removeMember", "issuer", Pattern(LINE)),
    ("removeMember", "subject", SUBJECT),
    ("removeMember", "subject", Pattern(LINE)),
    ("revokeLink", "If-Match", Pattern(ETAG)),
    ("revokeLink", "link_id", Pattern(EIGHT_BYTES)),
    ("setMember", "If-Match", Pattern(ETAG)),
    ("updateDetails", "If-Match", Pattern(ETAG)),
];

/// Adds the bounds of properties and parameters.
pub(super) struct Bounds;

impl Modify for Bounds {
    fn modify(&self, document: &mut OpenApi) {
        let schemas = &mut document.components.as_mut().unwrap().schemas;
        for (name, path, bound) in PROPERTIES {
            let schema = schemas.get_mut(*name).unwrap_or_else(|| panic!("no schema {name}"));
            bound.add_to(property(schema, path));
        }
        for operation in document.paths.paths.values_mut().flat_map(path_operations) {
            let id = operation.operation_id.as_deref().unwrap();
            for parameter in operation.parameters.iter_mut().flatten() {
                let its =
                    PARAMETERS.iter().filter(|(of, name, _)| (*of, *name) == (id, &parameter.name));
                for (_, _, bound) in its {
                    bound.add_to(parameter.schema.as_mut().unwrap());
                }
            }
        }
    }
}

/// Returns the property at a path.
fn property<'a>(schema: &'a mut RefOr<Schema>, path: &str) -> &'a mut RefOr<Schema> {
    let mut found = schema;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let RefOr::T(parent) = found else { panic!("{path} is in another schema") };
        found = match parent {
            Schema::Object(object) => object.properties.get_mut(part).unwrap(),
            Schema::Array(array) => match &mut array.items {
                ArrayItems::RefOrSchema(items) if part == "[]" => items,
                _ => panic!("{path} has no items"),
            },
            _ => panic!("{path} does not exist"),
        };
    }
    found
}

impl Bound {
    fn add_to(self, schema: &mut RefOr<Schema>) {
        match (self, schema) {
            (Items(min, max), RefOr::T(Schema::Array(array))) => {
                (array.min_items, array.max_items) = ((min > 0).then_some(min), Some(max));
            }
            (_, RefOr::T(Schema::Object(object))) => self.add_to_object(object),
            _ => panic!("the bound is of another type"),
        }
    }

    fn add_to_object(self, object: &mut Object) {
        match self {
            Length(min, max) => {
                (object.min_length, object.max_length) = ((min > 0).then_some(min), Some(max));
            }
            Pattern(pattern) => object.pattern = Some(pattern.to_owned()),
            Number(min, max) => {
                (object.minimum, object.maximum) = (Some(number(min)), Some(number(max)));
                // The format of a smaller type would be another bound.
                let fits = i64::try_from(max).is_ok();
                let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
                object.format = fits.then_some(format);
            }
            Texts(texts) => {
                object.enum_values = Some(texts.iter().map(|text| (*text).into()).collect());
            }
            Items(..) => panic!("the bound is of another type"),
        }
    }
}

fn number(value: u64) -> utoipa::Number {
    utoipa::Number::from(usize::try_from(value).unwrap())
}

/// Describes every `u32` by its maximum. The format `int32`, which utoipa uses, ends at 2³¹ − 1.
pub(super) struct UnsignedNumbers;

impl Modify for UnsignedNumbers {
    fn modify(&self, document: &mut OpenApi) {
        let schemas = document.components.iter_mut().flat_map(|parts| parts.schemas.values_mut());
        schemas.for_each(widen);
        for operation in document.paths.paths.values_mut().flat_map(path_operations) {
            let parameters = operation.parameters.iter_mut().flatten();
            parameters.filter_map(|parameter| parameter.schema.as_mut()).for_each(widen);
        }
    }
}

fn widen(schema: &mut RefOr<Schema>) {
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::Object(object) => {
            if object.format == Some(SchemaFormat::KnownFormat(KnownFormat::Int32)) {
                Number(0, u32::MAX.into()).add_to_object(object);
            }
            object.properties.values_mut().for_each(widen);
        }
        Schema::Array(array) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                widen(items);
            }
            for item in &mut array.prefix_items {
                if let Schema::Object(object) = item
                    && object.schema_type == SchemaType::Type(Type::Integer)
                {
                    Number(0, u32::MAX.into()).add_to_object(object);
                }
            }
        }
        Schema::OneOf(one) => one.items.iter_mut().for_each(widen),
        Schema::AllOf(all) => all.items.iter_mut().for_each(widen),
        Schema::AnyOf(any) => any.items.iter_mut().for_each(widen),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::super::openapi::OPENAPI_JSON;
    use super::*;

    fn operations(document: &Value) -> impl Iterator<Item = (&str, &Value)> {
        let items = document["paths"].as_object().unwrap().values();
        let operations = items.flat_map(|item| item.as_object().unwrap().values());
        operations.map(|operation| (operation["operationId"].as_str().unwrap(), operation))
    }

    /// Searches a schema for texts, numbers and lists without a bound.
    struct Search<'a> {
        document: &'a Value,
        seen: BTreeSet<&'a str>,
        found: BTreeSet<String>,
    }

    impl<'a> Search<'a> {
        fn visit(&mut self, name: &str, schema: &'a Value) {
            if let Some(reference) = schema["$ref"].as_str() {
                if self.seen.insert(reference) {
                    let pointer = reference.trim_start_matches('#');
                    let schema_name = reference.rsplit('/').next().unwrap();
                    self.visit(schema_name, self.document.pointer(pointer).unwrap());
                }
                return;
            }
            let is = |name: &str| {
                let types = &schema["type"];
                types == name || types.as_array().is_some_and(|all| all.contains(&name.into()))
            };
            let has = |keys: &[&str]| keys.iter().any(|key| !schema[*key].is_null());
            let is_unbounded = is("string") && !has(&["maxLength", "pattern", "enum", "format"])
                || is("integer") && !has(&["maximum"])
                || is("array") && !has(&["maxItems"]);
            if is_unbounded {
                self.found.insert(name.to_owned());
            }
            for (property, its) in schema["properties"].as_object().into_iter().flatten() {
                self.visit(&format!("{name}.{property}"), its);
            }
            let parts = ["oneOf", "allOf"].iter().flat_map(|key| schema[*key].as_array());
            parts.flatten().chain(schema.get("items")).for_each(|part| self.visit(name, part));
        }
    }

    #[test]
    fn every_value_of_a_request_has_a_bound() {
        let document: Value = serde_json::from_str(OPENAPI_JSON).unwrap();
        let (seen, found) = (BTreeSet::new(), BTreeSet::new());
        let mut search = Search { document: &document, seen, found };
        for (id, operation) in operations(&document) {
            search
                .visit("body", &operation["requestBody"]["content"]["application/json"]["schema"]);
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                search.visit(&format!("{id} {name}"), &parameter["schema"]);
            }
        }
        // The length of the request limits these values.
        let without_bound = [
            "filterRows sheet".to_owned(),
            "findCells sheet".to_owned(),
            "getCells sheet".to_owned(),
            "getHead If-None-Match".to_owned(),
            "listCellHistory sheet".to_owned(),
            "traceCell sheet".to_owned(),
            format!("{PUSH}.mutations"),
            format!("{PUSH}.mutations.name"),
        ];
        assert_eq!(search.found, BTreeSet::from(without_bound));
    }

    #[test]
    fn every_bound_of_a_parameter_is_in_the_document() {
        let document: Value = serde_json::from_str(OPENAPI_JSON).unwrap();
        for (of, name, _) in PARAMETERS {
            let (_, operation) = operations(&document).find(|(id, _)| id == of).unwrap();
            let mut parameters = operation["parameters"].as_array().unwrap().iter();
            assert!(parameters.any(|parameter| parameter["name"] == *name), "{of} has no {name}");
        }
    }
}

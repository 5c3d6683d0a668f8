//! Generates the OpenAPI document and tests that the committed copy is up to date.

use std::path::Path;
use std::{env, fs};

use cellar_api::cost::HEADER;
use utoipa::openapi::content::Content;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Ref, RefOr, Required};
use utoipa::{Modify, OpenApi};

use super::bounds::{Bounds, UnsignedNumbers};
use super::document_examples::Examples;
use super::document_schemas::Corrections;
use super::openapi::{__path_get_openapi_document, OPENAPI_JSON, remove_json_whitespace};

const COST_DESCRIPTION: &str = "Resources that the request consumed, even if it failed: a dictionary of numbers \
    (RFC 9651), such as `rr=0.5, wr=1, tables=2`. rr: read request units; wr: write request units; \
    tables: requests to tables; puts, gets, tags, deletes: requests to the object store; sent, \
    received: bytes of objects; queues: requests to queues. Missing keys are zero; keys may be added. \
    A 404 has no such header, so that it does not reveal whether the resource exists.";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cellar",
        description = "HTTP API of Cellar, a spreadsheet backend that stores every change in an append-only log.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        super::create::create_spreadsheet,
        super::list::list_spreadsheets,
        super::feed::list_feed_items,
        super::entries::load_spreadsheet,
        super::entries::list_entries,
        super::append::append_mutations,
        super::cells::get_cells,
        super::find::find_cells,
        super::filter::filter_rows,
        super::trace::trace_cell,
        super::cell_history::list_cell_history,
        super::chunks::get_chunk_urls,
        super::stats::get_stats,
        super::sheets::list_sheets,
        super::history::list_history,
        super::history::compare_positions,
        super::history::compare_spreadsheets,
        super::uploads::create_upload,
        super::uploads::complete_upload,
        super::imports::create_import_uploads,
        super::imports::check_import_chunks,
        super::forks::create_fork,
        super::forks::list_forks,
        super::merges::merge_fork,
        super::details::get_details,
        super::details::update_details,
        super::details::list_details_changes,
        super::members::set_member,
        super::members::remove_member,
        super::links::create_link,
        super::links::revoke_link,
        super::head::get_head,
        super::pokes::stream_pokes,
        super::presence::announce_presence,
        super::presence::list_presence,
        super::push::push_mutations,
        super::pull::pull_changes,
        super::health::get_health,
        super::config::get_config,
        get_openapi_document
    ),
    components(schemas(cellar_api::wire::Problem, cellar_base::identity::LogId)),
    modifiers(&CommonParts, &CostHeader, &Corrections, &UnsignedNumbers, &Bounds, &Examples)
)]
struct Document;

/// Operations that do not require a token.
const PUBLIC_OPERATIONS: [&str; 3] = ["getConfig", "getHealth", "getOpenApiDocument"];

/// Adds the spreadsheet id parameter, the error responses and the bearer token requirement to each
/// operation.
struct CommonParts;

impl Modify for CommonParts {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
        for (path, path_item) in &mut document.paths.paths {
            for operation in path_operations(path_item) {
                if path.contains("{id}") {
                    let parameters = operation.parameters.get_or_insert_default();
                    parameters.insert(0, spreadsheet_id_parameter());
                }
                if !is_public(operation) {
                    operation.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
                }
                add_error_responses(operation);
            }
        }
    }
}

fn is_public(operation: &Operation) -> bool {
    operation.operation_id.as_deref().is_some_and(|id| PUBLIC_OPERATIONS.contains(&id))
}

fn add_error_responses(operation: &mut Operation) {
    let responses = &mut operation.responses.responses;
    for (status, description) in [
        ("4XX", "Problem details (RFC 9457)"),
        ("507", "Storage full: the disk of the local stack is full, and nothing was changed"),
        ("503", "Temporarily unavailable: retry the unchanged request after `Retry-After`"),
    ] {
        responses.entry(status.to_owned()).or_insert_with(|| problem_response(description));
    }
}

fn spreadsheet_id_parameter() -> Parameter {
    ParameterBuilder::new()
        .name("id")
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some("Id of the spreadsheet"))
        .schema(Some(Ref::from_schema_name("SpreadsheetId")))
        .build()
}

fn problem_response(description: &str) -> RefOr<Response> {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    let response = ResponseBuilder::new().description(description);
    RefOr::T(response.content("application/problem+json", content).build())
}

/// Adds the `cellar-cost` header to each response.
struct CostHeader;

impl Modify for CostHeader {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let header = HeaderBuilder::new()
            .schema(Object::with_type(Type::String))
            .description(Some(COST_DESCRIPTION))
            .build();
        for path_item in document.paths.paths.values_mut() {
            for operation in path_operations(path_item) {
                for response in operation.responses.responses.values_mut() {
                    if let RefOr::T(response) = response {
                        response.headers.insert(HEADER.to_owned(), header.clone());
                    }
                }
            }
        }
    }
}

pub(super) fn path_operations(path_item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, patch, delete, .. } = path_item;
    [get, put, post, patch, delete].into_iter().flatten()
}

/// Environment variable that makes the test rewrite the committed document.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

#[test]
fn the_committed_document_is_up_to_date() {
    let document = Document::openapi();
    let generated_json = serde_json::to_string_pretty(&document).unwrap() + "\n";
    if env::var_os(UPDATE).is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api");
        fs::write(folder.join("openapi.json"), generated_json).unwrap();
        return;
    }
    let mut line_pairs = OPENAPI_JSON.lines().zip(generated_json.lines());
    let first_difference = line_pairs.find(|(committed, generated)| committed != generated);
    assert!(
        OPENAPI_JSON == generated_json,
        "openapi.json is out of date; the first difference (committed, generated) is: {first_difference:?}\n\
         If the change is intended, run {UPDATE}=1 cargo test -p cellar-runtime document"
    );
    assert_eq!(
        remove_json_whitespace(OPENAPI_JSON),
        serde_json::to_string(&document).unwrap(),
        "the served form differs"
    );
}

#[test]
fn every_reference_is_defined() {
    let json = serde_json::to_value(Document::openapi()).unwrap();
    let references = schema_references(&json);
    assert!(references.len() > 10, "{references:?}");
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(json.pointer(pointer).is_some(), "{reference} is not defined");
    }
}

#[test]
fn every_response_documents_its_cost() {
    let json = serde_json::to_value(Document::openapi()).unwrap();
    let mut responses = vec![];
    for path_item in json["paths"].as_object().unwrap().values() {
        for operation in path_item.as_object().unwrap().values() {
            if let Some(operation_responses) = operation["responses"].as_object() {
                responses.extend(operation_responses.values());
            }
        }
    }
    assert!(responses.len() > 10, "{responses:?}");
    for response in responses {
        let header = &response["headers"]["cellar-cost"];
        assert!(header["description"].as_str().unwrap().contains("RFC 9651"), "{response}");
    }
}

#[test]
fn operations_have_unique_ids_summaries_and_tags() {
    let json = serde_json::to_value(Document::openapi()).unwrap();
    let mut ids = std::collections::BTreeSet::new();
    for path_item in json["paths"].as_object().unwrap().values() {
        for operation in path_item.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} occurs twice");
            let summary = operation["summary"].as_str().unwrap();
            assert!(!summary.ends_with('.') && !summary.contains('\n'), "{id}: {summary}");
            let tag = operation["tags"][0].as_str().unwrap();
            assert!(!tag.contains(':'), "{id}: {tag}");
        }
    }
    assert!(ids.len() > 25, "{ids:?}");
}

#[test]
fn descriptions_do_not_mention_the_code() {
    for part in ["super::", "cellar_", "crate", "[`", ".rs", "docs/"] {
        let description = OPENAPI_JSON
            .lines()
            .find(|line| line.contains("\"description\": ") && line.contains(part));
        assert_eq!(description, None, "{part}");
    }
}

/// Returns the values of all `$ref` keys.
fn schema_references(json: &serde_json::Value) -> Vec<String> {
    let mut references = vec![];
    match json {
        serde_json::Value::Object(map) => {
            references.extend(map.get("$ref").and_then(|value| value.as_str()).map(str::to_owned));
            references.extend(map.values().flat_map(schema_references));
        }
        serde_json::Value::Array(items) => {
            references.extend(items.iter().flat_map(schema_references));
        }
        _ => {}
    }
    references
}

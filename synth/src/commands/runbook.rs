//! `synth runbook`: writes a runbook for the alarms of this stack.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::runbook_text::render_runbook;
use crate::cli::{Output, RunbookArguments};
use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};
use crate::project::{ConfigSelection, Project};
use crate::synthesis::synthesize;

/// Real resource lists are much smaller.
const RESOURCES_BYTES_MAX: u64 = 4 * 1_024 * 1_024;

pub(crate) fn write_runbook(
    config_selection: ConfigSelection<'_>,
    arguments: &RunbookArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config_selection)?.config;
    let template = synthesize(&config)?;
    let physical_names = arguments.resources.as_deref().map(read_names).transpose()?;
    let markdown = render_runbook(&config, &template, physical_names)?;
    match &arguments.output {
        Some(path) => {
            write_output(path, IfExists::Replace, markdown.as_bytes())?;
            let result = json!({ "written": path, "bytes": markdown.len() });
            output.print_result(&result, &format!("Wrote {}", path.display()));
        }
        None => output.print_result(&json!({ "markdown": markdown }), &markdown),
    }
    Ok(())
}

/// Output of `aws cloudformation describe-stack-resources` or `list-stack-resources`.
#[derive(Deserialize)]
struct ResourceListing {
    #[serde(rename = "StackResources", alias = "StackResourceSummaries")]
    resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListedResource {
    logical_resource_id: String,
    /// `None` until the resource has been created.
    physical_resource_id: Option<String>,
}

/// The result is keyed by logical id.
fn read_names(path: &Path) -> Result<BTreeMap<String, String>, SynthError> {
    let read_error = |cause| SynthError::Io { operation: "read", path: path.to_owned(), cause };
    let file = fs::File::open(path).map_err(read_error)?;
    let mut json_text = String::new();
    // Read one byte more than the limit, to find out whether the file is too large.
    file.take(RESOURCES_BYTES_MAX + 1).read_to_string(&mut json_text).map_err(read_error)?;
    parse_names(&json_text)
        .map_err(|error| SynthError::Resources { path: path.to_owned(), why: error })
}

fn parse_names(json_text: &str) -> Result<BTreeMap<String, String>, String> {
    if u64::try_from(json_text.len()).unwrap_or(u64::MAX) > RESOURCES_BYTES_MAX {
        return Err(format!("the file has more than {RESOURCES_BYTES_MAX} bytes"));
    }
    let listing: ResourceListing =
        serde_json::from_str(json_text).map_err(|error| error.to_string())?;
    let mut names = BTreeMap::new();
    for resource in listing.resources {
        let Some(name) = resource.physical_resource_id else { continue };
        if !is_safe_name(&name) {
            let id = resource.logical_resource_id.escape_debug();
            return Err(format!(
                "the name of {id} contains characters that resource names cannot contain"
            ));
        }
        names.insert(resource.logical_resource_id, name);
    }
    Ok(names)
}

/// AWS names, ARNs and URLs are safe.
fn is_safe_name(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@+=,".contains(&byte);
    !name.is_empty() && name.bytes().all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_from_the_output_of_aws() {
        for section in ["StackResources", "StackResourceSummaries"] {
            let text = format!(
                r#"{{"{section}": [
                    {{"LogicalResourceId": "Bucket", "PhysicalResourceId": "b-1", "Timestamp": "x"}},
                    {{"LogicalResourceId": "ApiRole"}}
                ]}}"#
            );
            let wanted = [("Bucket".to_owned(), "b-1".to_owned())].into();
            assert_eq!(parse_names(&text), Ok(wanted));
        }
    }

    #[test]
    fn rejects_names_with_special_characters() {
        let list = |name: &str| {
            let resource = json!({ "LogicalResourceId": "Bucket", "PhysicalResourceId": name });
            json!({ "StackResources": [resource] }).to_string()
        };
        for name in ["a-B_1.2/3:4@5+6=7,8", "https://sqs.eu-west-1.amazonaws.com/1/q"] {
            assert!(parse_names(&list(name)).is_ok(), "{name}");
        }
        for name in ["", "a b", "$(id)", "`id`", "a;b", "a\nb", "a'b", "a\"b", "a|b", "é", "a<b>"]
        {
            assert!(parse_names(&list(name)).is_err(), "{name:?}");
        }
        for text in ["", "{}", "[]", r#"{"StackResources": 1}"#] {
            assert!(parse_names(text).is_err(), "{text}");
        }
        let long = " ".repeat(usize::try_from(RESOURCES_BYTES_MAX).unwrap() + 1);
        assert!(parse_names(&long).unwrap_err().contains("more than"));
    }
}

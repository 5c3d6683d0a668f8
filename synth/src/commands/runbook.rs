//! `synth runbook`: what each alarm of this stack means, and what to run.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::runbook_text::render;
use super::template::synthesize;
use crate::cli::{Output, RunbookArguments};
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{Named, Project};

/// Bytes of a list of resources: far above that of any stack.
const RESOURCES_BYTES_MAX: u64 = 4 * 1_024 * 1_024;

/// Prints or writes the runbook.
pub(crate) fn run(
    config: Named<'_>,
    arguments: &RunbookArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let config = Project::find(config)?.config;
    let template = synthesize(&config)?;
    let names = arguments.resources.as_deref().map(read_names).transpose()?;
    let text = render(&config, &template, names)?;
    let Some(path) = &arguments.output else {
        output.result(&json!({ "markdown": text }), &text);
        return Ok(());
    };
    write_output(path, true, text.as_bytes())?;
    let written = json!({ "written": path, "bytes": text.len() });
    output.result(&written, &format!("Wrote {}", path.display()));
    Ok(())
}

/// What `describe-stack-resources` prints, or `list-stack-resources`.
#[derive(Deserialize)]
struct Listed {
    #[serde(rename = "StackResources", alias = "StackResourceSummaries")]
    resources: Vec<ListedResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListedResource {
    logical_resource_id: String,
    /// Absent until it is made.
    physical_resource_id: Option<String>,
}

/// Physical names by logical ids.
fn read_names(path: &Path) -> Result<BTreeMap<String, String>, SynthError> {
    let failed = |cause| SynthError::Io { what: "read", path: path.to_owned(), cause };
    let mut text = String::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(RESOURCES_BYTES_MAX.saturating_add(1)).read_to_string(&mut text).map_err(failed)?;
    names_in(&text).map_err(|why| SynthError::Resources { path: path.to_owned(), why })
}

fn names_in(text: &str) -> Result<BTreeMap<String, String>, String> {
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > RESOURCES_BYTES_MAX {
        return Err(format!("it is larger than {RESOURCES_BYTES_MAX} bytes"));
    }
    let listed: Listed = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut names = BTreeMap::new();
    for resource in listed.resources {
        let Some(name) = resource.physical_resource_id else { continue };
        if !is_plain(&name) {
            let id = resource.logical_resource_id.escape_debug();
            return Err(format!("the name of {id} has characters that no resource's name has"));
        }
        names.insert(resource.logical_resource_id, name);
    }
    Ok(names)
}

/// Whether it means only itself in a command and in Markdown: names, ARNs and URLs do.
fn is_plain(name: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:@+=,".contains(&b);
    !name.is_empty() && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_what_aws_prints() {
        for section in ["StackResources", "StackResourceSummaries"] {
            let text = format!(
                r#"{{"{section}": [
                    {{"LogicalResourceId": "Bucket", "PhysicalResourceId": "b-1", "Timestamp": "x"}},
                    {{"LogicalResourceId": "ApiRole"}}
                ]}}"#
            );
            let wanted = [("Bucket".to_owned(), "b-1".to_owned())].into();
            assert_eq!(names_in(&text), Ok(wanted));
        }
    }

    #[test]
    fn what_could_be_more_than_a_name_is_refused() {
        let list = |name: &str| {
            let resource = json!({ "LogicalResourceId": "Bucket", "PhysicalResourceId": name });
            json!({ "StackResources": [resource] }).to_string()
        };
        for name in ["a-B_1.2/3:4@5+6=7,8", "https://sqs.eu-west-1.amazonaws.com/1/q"] {
            assert!(names_in(&list(name)).is_ok(), "{name}");
        }
        for name in ["", "a b", "$(id)", "`id`", "a;b", "a\nb", "a'b", "a\"b", "a|b", "é", "a<b>"]
        {
            assert!(names_in(&list(name)).is_err(), "{name:?}");
        }
        for text in ["", "{}", "[]", r#"{"StackResources": 1}"#] {
            assert!(names_in(text).is_err(), "{text}");
        }
        let long = " ".repeat(usize::try_from(RESOURCES_BYTES_MAX).unwrap() + 1);
        assert!(names_in(&long).unwrap_err().contains("larger"));
    }
}

//! Reports the spreadsheet and stack to which a command has written.

use serde::Serialize;
use serde_json::{Value, json};

use super::output::Output;
use super::resolve::NamedSpreadsheet;
use super::spreadsheet_link::SpreadsheetLink;
use crate::text::escape;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub(super) spreadsheet: NamedSpreadsheet,
    /// Name of the stack, or `None` if only its URL is known.
    pub(super) stack: Option<String>,
    pub(super) link: SpreadsheetLink,
}

impl Destination {
    /// Converts `result`, which must serialize to a JSON object, and adds the fields `name`,
    /// `stack` and `url`.
    pub(super) fn add_to(&self, result: &impl Serialize) -> Value {
        let mut fields = json!(result);
        if let Value::Object(fields) = &mut fields {
            let Self { spreadsheet, stack, link } = self;
            fields.entry("name").or_insert_with(|| json!(spreadsheet.name));
            fields.insert("stack".to_owned(), json!(stack));
            fields.insert("url".to_owned(), json!(link.to_string()));
        }
        fields
    }

    /// Returns a description of the destination, for example:
    /// `In Budget, stack cellar (local): http://127.0.0.1:8480/#/s/ID`
    fn describe(&self) -> String {
        let name = match self.spreadsheet.name.as_deref() {
            Some("") => "a spreadsheet without a name".to_owned(),
            Some(name) => escape(name),
            None => "the spreadsheet".to_owned(),
        };
        let stack = match &self.stack {
            Some(stack) => format!(", stack {}", escape(stack)),
            None => String::new(),
        };
        format!("In {name}{stack}: {}", self.link)
    }

    /// Prints the destination to stderr, so that the output on stdout stays the same for scripts.
    /// Does nothing with `--json`.
    pub(super) fn print(&self, output: Output) {
        output.print_note(self.describe());
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::identity::LogId;

    use super::*;

    fn destination(name: Option<&str>, stack: Option<&str>) -> Destination {
        let id = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        Destination {
            spreadsheet: NamedSpreadsheet { id, name: name.map(str::to_owned) },
            stack: stack.map(str::to_owned),
            link: SpreadsheetLink::new("http://h/", id),
        }
    }

    #[test]
    fn describes_what_is_known() {
        let link = "http://h/#/s/07070707-0707-0707-0707-070707070707";
        for (name, stack, described) in [
            (Some("Bud\u{1b}get"), Some("a\u{1b}"), "In Bud\\u{1b}get, stack a\\u{1b}"),
            (Some(""), None, "In a spreadsheet without a name"),
            (None, Some("a"), "In the spreadsheet, stack a"),
        ] {
            assert_eq!(destination(name, stack).describe(), format!("{described}: {link}"));
        }
    }

    #[test]
    fn json_results_have_name_stack_and_url() {
        let result = destination(Some("Budget"), None).add_to(&json!({ "position": 7 }));
        let url = "http://h/#/s/07070707-0707-0707-0707-070707070707";
        let expected = json!({ "position": 7, "name": "Budget", "stack": null, "url": url });
        assert_eq!(result, expected);
        let named = destination(Some("old"), None).add_to(&json!({ "name": "new" }));
        assert_eq!(named["name"], "new", "the reply of the server is newer");
    }
}

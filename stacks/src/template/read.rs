//! Reads templates that this crate has written as JSON.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::limits::TEMPLATE_BYTES_MAX;
use super::{FORMAT_VERSION, Output, Parameter, Resource, Template};

/// The reason why text is not a template of Cellar.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    #[error("the template is {bytes} bytes long, but at most {TEMPLATE_BYTES_MAX} are allowed")]
    TooLarge { bytes: usize },
    #[error(
        "the text is not a template that Cellar has written: {message}; synthesize the template again"
    )]
    Malformed {
        /// Parser message, including the position.
        message: String,
    },
    #[error(
        "the format version of the template is `{version}`, but only `{FORMAT_VERSION}` exists; synthesize the template again"
    )]
    Version { version: String },
}

/// The sections that Cellar writes. Other sections are rejected, because a section such as
/// `Conditions` would change the meaning of the template.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Document {
    #[serde(rename = "AWSTemplateFormatVersion")]
    version: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    resources: BTreeMap<String, Resource>,
    #[serde(default)]
    outputs: BTreeMap<String, Output>,
}

impl Template {
    /// Reads JSON that [`Template::to_json`] has written.
    ///
    /// # Errors
    /// Returns a [`TemplateError`] if the text is too large or malformed, or contains features that
    /// Cellar does not use.
    pub fn from_json(text: &str) -> Result<Self, TemplateError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError::TooLarge { bytes: text.len() });
        }
        let document: Document = serde_json::from_str(text)
            .map_err(|error| TemplateError::Malformed { message: error.to_string() })?;
        let Document { version, description, parameters, resources, outputs } = document;
        if version != FORMAT_VERSION {
            return Err(TemplateError::Version { version });
        }
        Ok(Self { description, parameters, resources, outputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constructs::LogGroup;
    use crate::stack::Stack;

    fn template() -> Template {
        let mut stack = Stack::new("test");
        let first = stack.add("First", LogGroup::new(1)).unwrap();
        let second = stack.add("Second", LogGroup::new(3)).unwrap();
        stack.depends_on(&second, &first);
        stack.add_parameter("Key", Parameter::text("a key")).unwrap();
        stack.add_output("Name", Output::new("a name", first.name())).unwrap();
        stack.synthesize().unwrap()
    }

    #[test]
    fn reads_back_its_own_json() {
        let template = template();
        let back = Template::from_json(&template.to_json()).unwrap();
        assert_eq!(back, template);
        assert_eq!(back.to_json(), template.to_json());
    }

    #[test]
    fn features_that_cellar_never_writes_are_rejected() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"AWSTemplateFormatVersion": "2010-09-09"}"#,
            r#"{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {}, "Conditions": {}}"#,
            r#"{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"A": {"Type": 1}}}"#,
            r#"{"AWSTemplateFormatVersion": "2010-09-09",
                "Resources": {"A": {"Type": "T", "Condition": "C"}}}"#,
        ] {
            let error = Template::from_json(text).unwrap_err();
            assert!(matches!(error, TemplateError::Malformed { .. }), "{text}: {error}");
        }
        let text = r#"{"AWSTemplateFormatVersion": "2024-01-01", "Resources": {}}"#;
        let version = "2024-01-01".to_owned();
        assert_eq!(Template::from_json(text), Err(TemplateError::Version { version }));
    }

    #[test]
    fn the_size_is_bounded() {
        let text = template().to_json();
        let padded = |bytes: usize| format!("{text}{}", " ".repeat(bytes - text.len()));
        assert!(Template::from_json(&padded(TEMPLATE_BYTES_MAX)).is_ok());
        assert_eq!(
            Template::from_json(&padded(TEMPLATE_BYTES_MAX + 1)),
            Err(TemplateError::TooLarge { bytes: TEMPLATE_BYTES_MAX + 1 })
        );
    }
}

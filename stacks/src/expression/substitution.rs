//! Parser for `Fn::Sub` text.

use thiserror::Error;

/// A part of an `Fn::Sub` text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubstitutionPart {
    /// Literal text. An escape sequence such as `${!x}` has already been replaced by `${x}`.
    Text(String),
    /// `${Name}`: a reference to a variable, a parameter or a resource.
    Name(String),
    /// `${LogicalId.Attribute}`: a reference to an attribute of a resource.
    Attribute { logical_id: String, attribute: String },
}

/// A syntax error in an `Fn::Sub` text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SubstitutionError {
    /// A `${` has no `}`.
    #[error("`${{` has no closing `}}`: add it, or write `${{!` for a literal `${{`")]
    Unclosed,
    /// A placeholder has an empty name, as in `${}`, `${.x}` and `${x.}`.
    #[error(
        "the placeholder `${{{placeholder}}}` has an empty name: write `${{Name}}` or `${{LogicalId.Attribute}}`"
    )]
    EmptyName {
        /// The text between the braces.
        placeholder: String,
    },
}

/// Splits the text of an `Fn::Sub` into literal text and placeholders.
///
/// # Errors
/// Returns a [`SubstitutionError`] if a closing brace is missing or a name is empty.
pub fn parse_substitution(text: &str) -> Result<Vec<SubstitutionPart>, SubstitutionError> {
    let mut parts = Vec::new();
    let mut unparsed_text = text;
    while let Some((literal, after_opening)) = unparsed_text.split_once("${") {
        let (placeholder, after_placeholder) =
            after_opening.split_once('}').ok_or(SubstitutionError::Unclosed)?;
        if !literal.is_empty() {
            parts.push(SubstitutionPart::Text(literal.to_owned()));
        }
        parts.push(parse_placeholder(placeholder)?);
        unparsed_text = after_placeholder;
    }
    if !unparsed_text.is_empty() {
        parts.push(SubstitutionPart::Text(unparsed_text.to_owned()));
    }
    Ok(parts)
}

/// Parses the text between `${` and `}`.
fn parse_placeholder(placeholder: &str) -> Result<SubstitutionPart, SubstitutionError> {
    if let Some(escaped_name) = placeholder.strip_prefix('!') {
        return Ok(SubstitutionPart::Text(format!("${{{escaped_name}}}")));
    }
    let target = placeholder.trim();
    match target.split_once('.') {
        Some((logical_id, attribute)) if !logical_id.is_empty() && !attribute.is_empty() => {
            Ok(SubstitutionPart::Attribute {
                logical_id: logical_id.to_owned(),
                attribute: attribute.to_owned(),
            })
        }
        None if !target.is_empty() => Ok(SubstitutionPart::Name(target.to_owned())),
        _ => Err(SubstitutionError::EmptyName { placeholder: placeholder.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::SubstitutionPart::{Name, Text};
    use super::*;

    #[test]
    fn splits_text_names_and_attributes() {
        let parts = parse_substitution("a${B}c${D.E.F}${!G}$h").unwrap();
        assert_eq!(
            parts,
            [
                Text("a".to_owned()),
                Name("B".to_owned()),
                Text("c".to_owned()),
                SubstitutionPart::Attribute {
                    logical_id: "D".to_owned(),
                    attribute: "E.F".to_owned()
                },
                Text("${G}".to_owned()),
                Text("$h".to_owned()),
            ]
        );
        assert_eq!(parse_substitution("").unwrap(), []);
        assert_eq!(parse_substitution("${AWS::Region}").unwrap(), [Name("AWS::Region".to_owned())]);
    }

    #[test]
    fn syntax_errors_are_rejected() {
        for text in ["${", "a${b", "${!x"] {
            assert_eq!(parse_substitution(text), Err(SubstitutionError::Unclosed), "{text}");
        }
        for (text, name) in [("${}", ""), ("${ }", " "), ("${.x}", ".x"), ("${x.}", "x.")] {
            let wanted = Err(SubstitutionError::EmptyName { placeholder: name.to_owned() });
            assert_eq!(parse_substitution(text), wanted, "{text}");
        }
        assert_eq!(
            SubstitutionError::EmptyName { placeholder: "x.".to_owned() }.to_string(),
            "the placeholder `${x.}` has an empty name: write `${Name}` or `${LogicalId.Attribute}`"
        );
    }
}

//! Parser for `Fn::Sub` text.

use thiserror::Error;

/// A part of an `Fn::Sub` text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubstitutionPart {
    /// Literal text, with the escape sequence `${!x}` replaced by `${x}`.
    Text(String),
    /// `${Name}`, a reference to a variable of the `Fn::Sub`, a parameter or a resource.
    Name(String),
    /// `${LogicalId.Attribute}`, a reference to a resource attribute.
    Attribute { logical_id: String, attribute: String },
}

/// A syntax error in an `Fn::Sub` text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SubstitutionError {
    /// A `${` has no `}`.
    #[error("`${{` has no closing `}}`: add it, or write `${{!` for a literal `${{`")]
    Unclosed,
    /// A placeholder name is empty, such as in `${}`, `${.x}` or `${x.}`.
    #[error(
        "`${{{name}}}` has no name: write a logical id, or a logical id, a dot and an attribute"
    )]
    Nameless {
        /// Text between the braces.
        name: String,
    },
}

/// Splits an `Fn::Sub` text into literal text and placeholders.
///
/// # Errors
/// [`SubstitutionError`] if a closing brace is missing or a name is empty.
pub fn parse_substitution(text: &str) -> Result<Vec<SubstitutionPart>, SubstitutionError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inside, following) = after.split_once('}').ok_or(SubstitutionError::Unclosed)?;
        if !before.is_empty() {
            parts.push(SubstitutionPart::Text(before.to_owned()));
        }
        parts.push(parse_placeholder(inside)?);
        rest = following;
    }
    if !rest.is_empty() {
        parts.push(SubstitutionPart::Text(rest.to_owned()));
    }
    Ok(parts)
}

fn parse_placeholder(inside: &str) -> Result<SubstitutionPart, SubstitutionError> {
    if let Some(literal) = inside.strip_prefix('!') {
        return Ok(SubstitutionPart::Text(format!("${{{literal}}}")));
    }
    let name = inside.trim();
    let (logical_id, attribute) = match name.split_once('.') {
        Some((logical_id, attribute)) => (logical_id, Some(attribute)),
        None => (name, None),
    };
    if logical_id.is_empty() || attribute.is_some_and(str::is_empty) {
        return Err(SubstitutionError::Nameless { name: inside.to_owned() });
    }
    Ok(match attribute {
        None => SubstitutionPart::Name(name.to_owned()),
        Some(attribute) => SubstitutionPart::Attribute {
            logical_id: logical_id.to_owned(),
            attribute: attribute.to_owned(),
        },
    })
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
            let wanted = Err(SubstitutionError::Nameless { name: name.to_owned() });
            assert_eq!(parse_substitution(text), wanted, "{text}");
        }
        assert_eq!(
            SubstitutionError::Nameless { name: "x.".to_owned() }.to_string(),
            "`${x.}` has no name: write a logical id, or a logical id, a dot and an attribute"
        );
    }
}

//! Pushed mutations, and the parsing of their arguments.

use crate::wire::MutationArguments;
use cellar_base::limits::MAX_MUTATION_BYTES;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason};

/// A mutation of a push.
#[derive(Debug, Clone, PartialEq)]
pub struct Pushed {
    /// Index of the client in the list of clients of the push.
    pub client: usize,
    /// Mutation id.
    pub id: u64,
    /// Parsed arguments.
    pub arguments: ParsedArguments,
}

/// Parsed arguments of a mutation.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedArguments {
    /// A valid operation.
    Edit {
        /// Base of the mutation: the latest position that the client had seen when the user made
        /// the edit.
        base: Position,
        /// Number of times that the tables had been restored at that time.
        incarnation: u32,
        /// Operation as authored.
        operation: Operation,
    },
    /// Malformed arguments. The mutation is added to the log as rejected, because the client would
    /// otherwise retry it forever.
    Invalid(Rejection),
}

/// Parses the arguments `{base, incarnation, op}` of a mutation. Returns
/// [`ParsedArguments::Invalid`] if they are too long, malformed or nested too deeply.
#[must_use]
pub fn parse_arguments(arguments: &str) -> ParsedArguments {
    let byte_length = arguments.len();
    if byte_length > MAX_MUTATION_BYTES {
        let detail = format!(
            "the mutation has {byte_length} bytes; at most {MAX_MUTATION_BYTES} are allowed; \
             split it into several mutations"
        );
        return ParsedArguments::Invalid(Rejection::new(RejectionReason::TooLarge, detail));
    }
    match serde_json::from_str(arguments) {
        Ok(MutationArguments { base, incarnation, op }) => {
            ParsedArguments::Edit { base, incarnation, operation: op }
        }
        Err(error) => {
            let detail =
                format!("`args` must have the fields `base`, `incarnation` and `op`: {error}");
            ParsedArguments::Invalid(Rejection::new(RejectionReason::Invalid, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(arguments: &str) -> Option<RejectionReason> {
        match parse_arguments(arguments) {
            ParsedArguments::Edit { .. } => None,
            ParsedArguments::Invalid(rejection) => Some(rejection.reason),
        }
    }

    #[test]
    fn invalid_arguments_become_a_rejection() {
        let edit = r#"{"base":7,"incarnation":2,"op":{"insertRows":{"before":3,"count":2}}}"#;
        let ParsedArguments::Edit { base, incarnation, operation } = parse_arguments(edit) else {
            panic!()
        };
        assert_eq!((base.pack(), incarnation), (7, 2));
        assert!(matches!(operation, Operation::InsertRows(_)));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for bad in
            ["null", "{}", "[]", "\"x\"", r#"{"base":-1}"#, r#"{"base":7,"incarnation":0}"#, &deep]
        {
            assert_eq!(reason(bad), Some(RejectionReason::Invalid), "{}", bad.len());
        }
        let more = edit.replace("\"incarnation\"", "\"mine\":[{}],\"incarnation\"");
        assert_eq!(reason(&more), None, "ignores other fields");
    }

    #[test]
    fn limits_the_length_of_arguments() {
        let padded = |bytes: usize| {
            let edit = r#"{"base":7,"incarnation":2,"op":{"insertRows":{"before":3,"count":2}}}"#;
            format!("{edit}{}", " ".repeat(bytes - edit.len()))
        };
        assert_eq!(reason(&padded(MAX_MUTATION_BYTES)), None);
        assert_eq!(reason(&padded(MAX_MUTATION_BYTES + 1)), Some(RejectionReason::TooLarge));
    }
}

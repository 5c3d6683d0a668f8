//! One pushed mutation: what its arguments say, or why they say nothing.

use crate::wire::MutationArguments;
use cellar_base::limits::MAX_MUTATION_BYTES;
use cellar_base::position::Position;
use cellar_sheet::operation::{Operation, Rejection, RejectionReason};

/// A mutation of a push, in the order of the push.
#[derive(Debug, Clone, PartialEq)]
pub struct Pushed {
    /// Its client, as a number into the clients of the push.
    pub client: usize,
    /// Its id.
    pub id: u64,
    /// What it asks for.
    pub asked: Asked,
}

/// What a mutation asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// An operation.
    Edit {
        /// The position its author had seen.
        base: Position,
        /// The incarnation of that position.
        incarnation: u32,
        /// What it does.
        operation: Operation,
    },
    /// Nothing that could be understood: it is appended as rejected, because its client would repeat
    /// it for ever otherwise.
    Nothing(Rejection),
}

/// Reads a mutation's arguments, `{base, incarnation, op}`; total. Whatever nests too deep or is too long
/// is nothing.
#[must_use]
pub fn read_mutation(arguments: &str) -> Asked {
    if arguments.len() > MAX_MUTATION_BYTES {
        let bytes = arguments.len();
        let detail =
            format!("a mutation has {bytes} bytes, at most {MAX_MUTATION_BYTES}: split it");
        return Asked::Nothing(Rejection::new(RejectionReason::TooLarge, detail));
    }
    match serde_json::from_str(arguments) {
        Ok(MutationArguments { base, incarnation, op }) => {
            Asked::Edit { base, incarnation, operation: op }
        }
        Err(error) => {
            let detail = format!("its args are not {{base, incarnation, op}}: {error}");
            Asked::Nothing(Rejection::new(RejectionReason::Invalid, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(arguments: &str) -> Option<RejectionReason> {
        match read_mutation(arguments) {
            Asked::Edit { .. } => None,
            Asked::Nothing(rejection) => Some(rejection.reason),
        }
    }

    #[test]
    fn whatever_is_no_edit_is_a_rejection_and_never_an_error() {
        let edit = r#"{"base":7,"incarnation":2,"op":{"insertRows":{"before":3,"count":2}}}"#;
        let Asked::Edit { base, incarnation, operation } = read_mutation(edit) else { panic!() };
        assert_eq!((base.pack(), incarnation), (7, 2));
        assert!(matches!(operation, Operation::InsertRows(_)));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for bad in
            ["null", "{}", "[]", "\"x\"", r#"{"base":-1}"#, r#"{"base":7,"incarnation":0}"#, &deep]
        {
            assert_eq!(reason(bad), Some(RejectionReason::Invalid), "{}", bad.len());
        }
        let more = edit.replace("\"incarnation\"", "\"mine\":[{}],\"incarnation\"");
        assert_eq!(reason(&more), None, "what is the application's own");
    }

    #[test]
    fn arguments_are_bounded() {
        let padded = |bytes: usize| {
            let edit = r#"{"base":7,"incarnation":2,"op":{"insertRows":{"before":3,"count":2}}}"#;
            format!("{edit}{}", " ".repeat(bytes - edit.len()))
        };
        assert_eq!(reason(&padded(MAX_MUTATION_BYTES)), None);
        assert_eq!(reason(&padded(MAX_MUTATION_BYTES + 1)), Some(RejectionReason::TooLarge));
    }
}

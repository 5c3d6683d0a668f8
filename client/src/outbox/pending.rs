//! One edit on its way, as it is on disk.

use cellar_api::{wire::SentMutation, wire::UploadReply};
use cellar_base::limits::{EXTERNAL_BODY_BYTES, MAX_MUTATION_BYTES};
use cellar_base::position::Position;
use cellar_log::entry::{BodyError, encode_external_body};
use cellar_sheet::operation::{Operation, SheetId};
use serde::{Deserialize, Serialize};

use crate::client::sha256;
use crate::describe;
use crate::sheet_loss::needed_sheet;

/// Bytes of JSON around an operation: the fields of its mutation.
const MUTATION_FRAME_BYTES: usize = 1_024;

/// An edit that was saved and perhaps sent. Its id and its base never change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) id: u64,
    pub(crate) base: Position,
    #[serde(flatten)]
    pub(crate) what: What,
}

/// What an edit does, and on which way it goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum What {
    /// In a request.
    Op(Operation),
    /// As an object of its own.
    Body(Body),
}

/// An object that is to become an entry. Its bytes are in a file of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    /// SHA-256 of the object, hexadecimal.
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    /// What it does, for people.
    pub(crate) description: String,
    /// The sheet it is for; not known of an edit of an older cellar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sheet: Option<SheetId>,
    /// How it may be uploaded, once that was granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grant: Option<UploadReply>,
    /// Whether the store has said that it has the object.
    #[serde(default)]
    pub(crate) uploaded: bool,
    /// Whether an upload that was given up may have become the entry all the same.
    #[serde(default)]
    pub(crate) uncertain: bool,
}

impl What {
    /// The way for an operation, and the object if it goes as one.
    ///
    /// # Errors
    /// [`BodyError`] if it is too large for any way.
    pub(crate) fn choose(operation: Operation) -> Result<(Self, Option<Vec<u8>>), BodyError> {
        if !matches!(operation, Operation::SetCells(_)) {
            return Ok((Self::Op(operation), None));
        }
        // Plain data always encodes; the stored form is never longer than its JSON.
        let json_bytes = serde_json::to_vec(&operation).map_or(usize::MAX, |json| json.len());
        if json_bytes <= EXTERNAL_BODY_BYTES {
            return Ok((Self::Op(operation), None));
        }
        let object = encode_external_body(std::slice::from_ref(&operation))?;
        let fits_a_request = json_bytes <= MAX_MUTATION_BYTES - MUTATION_FRAME_BYTES;
        if object.len() <= EXTERNAL_BODY_BYTES && fits_a_request {
            return Ok((Self::Op(operation), None));
        }
        let body = Body {
            sha256: sha256(&object),
            bytes: u64::try_from(object.len()).unwrap_or(u64::MAX),
            description: describe::operation(&operation),
            sheet: needed_sheet(&operation),
            grant: None,
            uploaded: false,
            uncertain: false,
        };
        Ok((Self::Body(body), Some(object)))
    }

    /// The sheet that it needs to have any effect.
    pub(crate) fn needed_sheet(&self) -> Option<SheetId> {
        match self {
            Self::Op(operation) => needed_sheet(operation),
            Self::Body(body) => body.sheet,
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            // It may have taken nothing back.
            Self::Op(Operation::Undo(undo)) => format!("undo of {}", undo.position),
            Self::Op(Operation::Revert(revert)) => format!("revert to {}", revert.position),
            Self::Op(operation) => describe::operation(operation),
            Self::Body(body) => body.description.clone(),
        }
    }

    /// Whether a request has it alone: what an undo or a revert takes back depends on what is before it.
    pub(crate) fn goes_alone(&self) -> bool {
        match self {
            Self::Body(_) => true,
            Self::Op(operation) => operation.is_resolved_on_append(),
        }
    }
}

impl Pending {
    /// The mutation, if it goes in a request.
    pub(crate) fn sent(&self) -> Option<SentMutation> {
        let Self { id, base, what } = self;
        match what {
            What::Op(op) => Some(SentMutation { id: *id, base: *base, op: op.clone() }),
            What::Body(_) => None,
        }
    }

    pub(crate) fn body(&self) -> Option<&Body> {
        match &self.what {
            What::Body(body) => Some(body),
            What::Op(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_TEXT_BYTES;
    use cellar_log::entry::decode_external_body;
    use cellar_sheet::cell::Value;
    use cellar_sheet::operation::{CellEdit, DeleteSpans, SetCells, SheetId, Spans};

    use super::*;

    fn set(texts: Vec<String>) -> Operation {
        let edit = |(row, text)| {
            let value = Some(Value::Text(text));
            CellEdit { row, column: 0, value, formula: None, format: None }
        };
        let cells = (0..).zip(texts).map(edit).collect();
        Operation::SetCells(SetCells { sheet: SheetId::FIRST, cells })
    }

    /// Text that does not compress.
    fn noise(bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(&blake3::hash(text.len().to_string().as_bytes()).to_hex());
        }
        text.truncate(bytes);
        text
    }

    fn object(operation: &Operation) -> Option<Vec<u8>> {
        What::choose(operation.clone()).unwrap().1
    }

    #[test]
    fn what_is_large_even_when_compressed_goes_as_an_object() {
        assert_eq!(object(&set(vec![noise(5_000)])), None);
        assert_eq!(object(&set(vec!["x".repeat(MAX_TEXT_BYTES)])), None, "it compresses");
        let large = set(vec![noise(60_000), noise(60_000)]);
        let (what, bytes) = What::choose(large.clone()).unwrap();
        let (What::Body(body), Some(bytes)) = (&what, bytes) else { panic!("{what:?}") };
        assert_eq!(decode_external_body(&bytes).unwrap(), [large]);
        assert_eq!((body.bytes, body.sha256.len()), (bytes.len() as u64, 64));
        assert_eq!(what.describe(), "2 cells A1:A2");
    }

    #[test]
    fn the_bounds_of_the_ways_hold_at_n_and_n_plus_1() {
        // The longest that goes in a request by its compressed size, found by halving.
        let compressed = |bytes| encode_external_body(&[set(vec![noise(bytes)])]).unwrap().len();
        let (mut fits, mut exceeds) = (10_000, 60_000);
        while exceeds - fits > 1 {
            let middle = usize::midpoint(fits, exceeds);
            if compressed(middle) <= EXTERNAL_BODY_BYTES { fits = middle } else { exceeds = middle }
        }
        assert!(object(&set(vec![noise(fits)])).is_none());
        assert!(object(&set(vec![noise(exceeds)])).is_some());
        // Compressible, and as JSON just below and above what a request takes.
        let json = |bytes: usize| {
            let mut texts = vec!["x".repeat(50_000); 5];
            texts.push("x".repeat(bytes));
            set(texts)
        };
        let frame = serde_json::to_vec(&json(0)).unwrap().len();
        let longest = MAX_MUTATION_BYTES - MUTATION_FRAME_BYTES - frame;
        assert!(object(&json(longest)).is_none());
        assert!(object(&json(longest + 1)).is_some());
    }

    #[test]
    fn only_cells_go_as_objects() {
        let spans = Spans::of((0..9_000).map(|row| row * 2));
        let delete = Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans });
        assert!(serde_json::to_vec(&delete).unwrap().len() > EXTERNAL_BODY_BYTES);
        assert_eq!(object(&delete), None);
    }

    #[test]
    fn an_edit_of_an_older_cellar_reads_back() {
        let json = r#"{"id":1,"base":4,"op":{"setCells":{"sheet":0,"cells":[
            {"row":1,"column":0,"value":null},{"row":2,"column":0,"value":2.5}]}}}"#;
        let pending: Pending = serde_json::from_str(json).unwrap();
        let sent: SentMutation = serde_json::from_str(json).unwrap();
        assert_eq!(pending.sent(), Some(sent));
        let again = serde_json::to_string(&pending).unwrap();
        assert_eq!(serde_json::from_str::<Pending>(&again).unwrap(), pending);
        assert!(serde_json::from_str::<Pending>(r#"{"id":1,"base":4}"#).is_err());
    }
}

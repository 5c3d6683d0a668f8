//! Pending edits in the form in which they are stored on disk.

use cellar_api::{wire::SentMutation, wire::UploadReply};
use cellar_base::limits::{EXTERNAL_BODY_BYTES, MAX_MUTATION_BYTES};
use cellar_base::position::Position;
use cellar_log::entry::{BodyError, encode_external_body};
use cellar_sheet::operation::{Operation, SheetId};
use serde::{Deserialize, Serialize};

use crate::client::sha256;
use crate::describe::describe_operation;
use crate::sheet_deletion::needed_sheet;

/// Upper bound on the length of a mutation as JSON without its operation, in bytes.
const MUTATION_FRAME_BYTES: usize = 1_024;

/// An edit that was saved on disk and may have been sent. Its id and base position never change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PendingEdit {
    pub(crate) id: u64,
    pub(crate) base: Position,
    #[serde(flatten)]
    pub(crate) payload: EditPayload,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum EditPayload {
    Op(Operation),
    /// A large operation, which does not fit in a request and is uploaded as an object.
    Body(UploadBody),
}

/// The object of a large edit. It is uploaded and then appended as a log entry. Its contents are
/// stored in a separate file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UploadBody {
    /// In hexadecimal.
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    /// Edit description for messages.
    pub(crate) description: String,
    /// Files written by older versions do not contain this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sheet: Option<SheetId>,
    /// Upload URL of the object, if the server has already returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grant: Option<UploadReply>,
    /// Whether the object store has confirmed that it stored the object.
    #[serde(default)]
    pub(crate) uploaded: bool,
    /// Whether the object may have been committed by an upload that was abandoned.
    #[serde(default)]
    pub(crate) uncertain: bool,
}

impl EditPayload {
    /// If the operation is too large for an append request, also returns the object to upload.
    pub(crate) fn encode(operation: Operation) -> Result<(Self, Option<Vec<u8>>), BodyError> {
        match object_to_upload(&operation)? {
            None => Ok((Self::Op(operation), None)),
            Some(object) => {
                let body = UploadBody::of_object(&object, &operation);
                Ok((Self::Body(body), Some(object)))
            }
        }
    }

    /// Returns the sheet that must exist for the edit to have an effect.
    pub(crate) fn needed_sheet(&self) -> Option<SheetId> {
        match self {
            Self::Op(operation) => needed_sheet(operation),
            Self::Body(body) => body.sheet,
        }
    }

    /// Returns `None` if the edit is sent in an append request.
    pub(crate) fn object_bytes(&self) -> Option<u64> {
        match self {
            Self::Body(body) => Some(body.bytes),
            Self::Op(_) => None,
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            // Describe only the position of the undo or revert, because the operations that will be
            // committed are not known yet.
            Self::Op(Operation::Undo(undo)) => format!("undo of {}", undo.position),
            Self::Op(Operation::Revert(revert)) => {
                let part = match (revert.sheet, revert.range()) {
                    (None, _) => "",
                    (Some(_), None) => " of a sheet",
                    (Some(_), Some(_)) => " of a range",
                };
                format!("revert{part} to {}", revert.position)
            }
            Self::Op(operation) => describe_operation(operation),
            Self::Body(body) => body.description.clone(),
        }
    }

    /// Undos and reverts need their own request, because their effect depends on the preceding
    /// entries.
    pub(crate) fn needs_own_request(&self) -> bool {
        match self {
            Self::Body(_) => true,
            Self::Op(operation) => operation.is_resolved_on_append(),
        }
    }
}

/// Returns `None` if the operation is small enough for an append request.
fn object_to_upload(operation: &Operation) -> Result<Option<Vec<u8>>, BodyError> {
    if !matches!(operation, Operation::SetCells(_)) {
        return Ok(None);
    }
    // Encoding plain data cannot fail, and the compressed object is never longer than the JSON.
    let json_bytes = serde_json::to_vec(operation).map_or(usize::MAX, |json| json.len());
    if json_bytes <= EXTERNAL_BODY_BYTES {
        return Ok(None);
    }
    let object = encode_external_body(std::slice::from_ref(operation))?;
    let fits_request = json_bytes <= MAX_MUTATION_BYTES - MUTATION_FRAME_BYTES;
    let fits_log_entry = object.len() <= EXTERNAL_BODY_BYTES;
    if fits_request && fits_log_entry {
        return Ok(None);
    }
    Ok(Some(object))
}

impl UploadBody {
    fn of_object(object: &[u8], operation: &Operation) -> Self {
        Self {
            sha256: sha256(object),
            bytes: u64::try_from(object.len()).unwrap_or(u64::MAX),
            description: describe_operation(operation),
            sheet: needed_sheet(operation),
            grant: None,
            uploaded: false,
            uncertain: false,
        }
    }
}

impl PendingEdit {
    /// Returns `None` if the edit is uploaded as an object.
    pub(crate) fn mutation(&self) -> Option<SentMutation> {
        let Self { id, base, payload } = self;
        match payload {
            EditPayload::Op(op) => Some(SentMutation { id: *id, base: *base, op: op.clone() }),
            EditPayload::Body(_) => None,
        }
    }

    pub(crate) fn body(&self) -> Option<&UploadBody> {
        match &self.payload {
            EditPayload::Body(body) => Some(body),
            EditPayload::Op(_) => None,
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

    /// Incompressible text.
    fn noise(bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(&blake3::hash(text.len().to_string().as_bytes()).to_hex());
        }
        text.truncate(bytes);
        text
    }

    fn object(operation: &Operation) -> Option<Vec<u8>> {
        EditPayload::encode(operation.clone()).unwrap().1
    }

    #[test]
    fn edits_that_are_large_when_compressed_are_uploaded() {
        assert_eq!(object(&set(vec![noise(5_000)])), None);
        assert_eq!(object(&set(vec!["x".repeat(MAX_TEXT_BYTES)])), None, "it compresses");
        let large = set(vec![noise(60_000), noise(60_000)]);
        let (payload, bytes) = EditPayload::encode(large.clone()).unwrap();
        let (EditPayload::Body(body), Some(bytes)) = (&payload, bytes) else {
            panic!("{payload:?}")
        };
        assert_eq!(decode_external_body(&bytes).unwrap(), [large]);
        assert_eq!((body.bytes, body.sha256.len()), (bytes.len() as u64, 64));
        assert_eq!(payload.describe(), "2 cells A1:A2");
    }

    #[test]
    fn size_limits_of_a_request_are_inclusive() {
        // Binary search for the longest text that still fits in an append request.
        let compressed = |bytes| encode_external_body(&[set(vec![noise(bytes)])]).unwrap().len();
        let (mut fits, mut exceeds) = (10_000, 60_000);
        while exceeds - fits > 1 {
            let middle = usize::midpoint(fits, exceeds);
            if compressed(middle) <= EXTERNAL_BODY_BYTES { fits = middle } else { exceeds = middle }
        }
        assert!(object(&set(vec![noise(fits)])).is_none());
        assert!(object(&set(vec![noise(exceeds)])).is_some());
        // Compressible texts with JSON lengths slightly below and slightly above the request limit.
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
    fn only_set_cells_is_uploaded() {
        let spans = Spans::of((0..9_000).map(|row| row * 2));
        let delete = Operation::DeleteRows(DeleteSpans { sheet: SheetId::FIRST, spans });
        assert!(serde_json::to_vec(&delete).unwrap().len() > EXTERNAL_BODY_BYTES);
        assert_eq!(object(&delete), None);
    }

    #[test]
    fn reads_an_edit_of_an_older_version() {
        let json = r#"{"id":1,"base":4,"op":{"setCells":{"sheet":0,"cells":[
            {"row":1,"column":0,"value":null},{"row":2,"column":0,"value":2.5}]}}}"#;
        let pending: PendingEdit = serde_json::from_str(json).unwrap();
        let sent: SentMutation = serde_json::from_str(json).unwrap();
        assert_eq!(pending.mutation(), Some(sent));
        let again = serde_json::to_string(&pending).unwrap();
        assert_eq!(serde_json::from_str::<PendingEdit>(&again).unwrap(), pending);
        assert!(serde_json::from_str::<PendingEdit>(r#"{"id":1,"base":4}"#).is_err());
    }
}

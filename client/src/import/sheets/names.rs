//! Definitions of the names of a workbook that formulas can use.

use std::collections::BTreeMap;

use cellar_api::wire::{AppendRequest, NameView, SentMutation};
use cellar_base::limits::{MAX_ENTRY_BODY_BYTES, MAX_MUTATIONS_PER_REQUEST};
use cellar_exchange::{NameInFile, NotImported, Omission};
use cellar_sheet::metadata::{DefinedNames, SheetNames, Tabs};
use cellar_sheet::operation::{Operation, SetName, SheetId, sheet_name_from};

use super::requests::FileSheets;

/// Maximum total size of the names in one request, so that they fit in one entry.
const MAX_REQUEST_NAMES_BYTES: usize = MAX_ENTRY_BODY_BYTES / 4;

/// Sheets of a file, by their names in the file.
struct SheetsOfFile {
    numbers: BTreeMap<String, SheetId>,
    /// Names that Cellar allows.
    names: BTreeMap<SheetId, String>,
}

impl SheetsOfFile {
    fn new(sheets: &FileSheets, first_sheet: SheetId) -> Self {
        let (mut numbers, mut names) = (BTreeMap::new(), BTreeMap::new());
        for (number, sheet) in (first_sheet.0..).map(SheetId).zip(sheets.iter()) {
            let name = sheet.name.as_deref().unwrap_or_default();
            numbers.insert(name.to_lowercase(), number);
            names.insert(number, sheet_name_from(name));
        }
        Self { numbers, names }
    }
}

impl SheetNames for SheetsOfFile {
    fn number(&self, name: &str) -> Option<SheetId> {
        self.numbers.get(&name.to_lowercase()).copied()
    }

    fn name(&self, sheet: SheetId) -> Option<&str> {
        self.names.get(&sheet).map(String::as_str)
    }
}

/// Returns the definitions of the names that can be imported. Names are left out if they refer to
/// other sheets than `sheets`, do not follow the rules of names in Cellar, or are among `existing`.
/// The first sheet has the number `first_sheet`.
pub(super) fn definitions(
    names: &[NameInFile],
    sheets: &FileSheets,
    first_sheet: SheetId,
    existing: &[NameView],
) -> Vec<SetName> {
    let sheets = SheetsOfFile::new(sheets, first_sheet);
    let any_sheets = Tabs::default();
    let mut defined = DefinedNames::default();
    let mut definitions = Vec::new();
    for NameInFile { name, formula } in names {
        let folded_name = name.to_lowercase();
        let exists = existing.iter().any(|other| other.name.to_lowercase() == folded_name);
        if let Ok(set) = SetName::define(name, formula, &sheets)
            && !exists
            && defined.get(name).is_none()
            && defined.has_room_for(&set)
        {
            let operation = Operation::SetName(set.clone());
            defined.follow(&operation, any_sheets.numbers());
            definitions.push(set);
        }
    }
    definitions
}

/// Returns how many definitions there are, in the form in which a file counts them.
pub(super) fn count_imported(definitions: usize) -> NotImported {
    let mut imported = NotImported::default();
    imported.add(Omission::DefinedNames, u64::try_from(definitions).unwrap_or(u64::MAX));
    imported
}

/// Adds the definitions to the last request, so that an undo of the import also deletes the names. If
/// they do not fit, they follow in further requests.
pub(super) fn add_to_requests(requests: &mut Vec<AppendRequest>, definitions: Vec<SetName>) {
    let Some(mut request) = requests.pop() else { return };
    let mut request_bytes = 0_usize;
    for set in definitions {
        let op = Operation::SetName(set);
        let bytes = op.weight_bytes();
        let Some(SentMutation { id: last_id, base, .. }) = request.mutations.last().cloned() else {
            break;
        };
        let is_full = request_bytes.saturating_add(bytes) > MAX_REQUEST_NAMES_BYTES
            || request.mutations.len() >= MAX_MUTATIONS_PER_REQUEST;
        if is_full {
            let next =
                AppendRequest { acked_id: last_id, mutations: Vec::new(), ..request.clone() };
            requests.push(std::mem::replace(&mut request, next));
            request_bytes = 0;
        }
        request_bytes = request_bytes.saturating_add(bytes);
        request.mutations.push(SentMutation { id: last_id.saturating_add(1), base, op });
    }
    requests.push(request);
}

#[cfg(test)]
mod tests {
    use cellar_base::limits::MAX_DEFINED_NAMES;
    use cellar_base::position::Position;
    use cellar_sheet::operation::RenameSheet;

    use super::*;
    use crate::import::sheets::requests::tests::sheets_named;

    fn in_file(name: &str, formula: &str) -> NameInFile {
        NameInFile { name: name.to_owned(), formula: formula.to_owned() }
    }

    #[test]
    fn names_that_cannot_be_kept_are_left_out() {
        let long_name = "a name of more than 31 characters";
        let sheets = sheets_named(&["Costs", long_name]);
        let file = [
            in_file("TAX", "=0.19"),
            in_file("Prices", "=costs!$B$2:$B$10"),
            in_file("Other", &format!("='{long_name}'!$A:$A")),
            in_file("tax", "=0.2"),
            in_file("known", "=1"),
            in_file("DATA1", "=Costs!$A$1"),
            in_file("relative", "=Costs!A1"),
            in_file("elsewhere", "=Missing!$A$1"),
            in_file("linked", "=[1]Costs!$A$1"),
            in_file("broken", "=#REF!"),
        ];
        let existing = [NameView { name: "Known".into(), formula: "=2".into() }];
        let definitions = definitions(&file, &sheets, SheetId(4), &existing);
        let described: Vec<(&str, &str, Vec<SheetId>)> = definitions
            .iter()
            .map(|set| {
                let numbers = set.sheets.values().copied().collect();
                (set.name.as_str(), set.formula.as_deref().unwrap(), numbers)
            })
            .collect();
        let expected = [
            ("TAX", "=0.19", vec![]),
            ("Prices", "=Costs!$B$2:$B$10", vec![SheetId(4)]),
            ("Other", "='a name of more than 31 characte'!$A:$A", vec![SheetId(5)]),
            ("broken", "=#REF!", vec![]),
        ];
        assert_eq!(described, expected);
    }

    #[test]
    fn requests_are_filled_after_the_sheets() {
        let base = Position::FIRST;
        let rename = RenameSheet { sheet: SheetId::FIRST, name: "a".into() };
        let sheet = SentMutation { id: 3, base, op: Operation::RenameSheet(rename) };
        let mut requests = vec![AppendRequest {
            client_id: "c".into(),
            incarnation: 7,
            acked_id: 2,
            refuse_unchanged: false,
            mutations: vec![sheet],
        }];
        let sheets = sheets_named(&["a"]);
        let count = MAX_DEFINED_NAMES;
        let file: Vec<_> = (0..=count).map(|n| in_file(&format!("n_{n}"), "=a!$A$1")).collect();
        let definitions = definitions(&file, &sheets, SheetId(1), &[]);
        assert_eq!(definitions.len(), count, "one too many");
        add_to_requests(&mut requests, definitions);
        assert!(requests.len() > 1);
        let mut next_id = 3;
        for request in &requests {
            assert_eq!((request.acked_id, request.incarnation), (next_id - 1, 7));
            assert!((1..=MAX_MUTATIONS_PER_REQUEST).contains(&request.mutations.len()));
            for mutation in &request.mutations {
                assert_eq!(mutation.id, next_id);
                next_id += 1;
            }
        }
        assert_eq!(next_id, 4 + u64::try_from(count).unwrap());
    }
}

//! Logic for point-in-time restores, without I/O: the tables to restore, their names and logical
//! ids, and the import template.
//!
//! Tables are never restored in place. Instead, DynamoDB creates new tables. These tables are
//! imported into the stack, in addition to the current tables, under a new incarnation (restore
//! counter). The next deployment switches the functions to the restored tables.
//!
//! A process that still uses the old tables cannot write to the restored tables, because their
//! names differ. A client that has seen positions after the restore point detects the new
//! incarnation and reloads.

use cellar_stacks::cellar::{feed_table_logical_id, table_logical_ids};
use serde_json::{Map, Value, json};

use crate::aws::ImportedTable;
use crate::moment::format_utc;

/// Properties of a table that DynamoDB does not restore. The next deployment sets them.
const UNRESTORED_PROPERTIES: [&str; 3] =
    ["StreamSpecification", "PointInTimeRecoverySpecification", "Tags"];

#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum RestoreError {
    #[error("point-in-time recovery is disabled for table {table}")]
    #[diagnostic(
        code(synth::restore::no_recovery),
        help(
            "`synth drift` shows changes made outside CloudFormation; a table can be restored only to \
             times at which point-in-time recovery was on"
        )
    )]
    NoRecovery {
        /// Name of the table.
        table: String,
    },
    #[error("cannot restore the tables to {at}: the restorable range is {from} to {to}")]
    #[diagnostic(
        code(synth::restore::out_of_range),
        help("pass a time in this range with --to, or `--to latest`")
    )]
    OutOfRange {
        at: String,
        /// Start of the restorable range of times.
        from: String,
        to: String,
    },
    #[error("table {table} already exists, but was not restored from {source_table} to this time")]
    #[diagnostic(
        code(synth::restore::name_taken),
        help(
            "delete the table, or restore to another second: restored tables are named after the time"
        )
    )]
    NameTaken {
        /// Name of the table that already exists.
        table: String,
        source_table: String,
    },
    #[error("the deployed stack {stack} has no {missing}")]
    #[diagnostic(
        code(synth::restore::other_stack),
        help("update the stack with `synth deploy`, then run `synth restore` again")
    )]
    IncompleteStack {
        /// Name of the stack.
        stack: String,
        missing: &'static str,
    },
    #[error("the table {table} is not restored yet")]
    #[diagnostic(
        code(synth::restore::slow),
        help("AWS continues the restore: run the same command again later")
    )]
    Slow {
        /// Name of the table.
        table: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRestore {
    /// Incarnation (restore counter) of the restored tables.
    pub(crate) incarnation: u32,
    pub(crate) tables: Vec<ImportedTable>,
    /// Logical ids of the tables that the next deployment removes from the stack.
    pub(crate) removed_ids: Vec<String>,
    pub(crate) is_imported: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StackResource<'a> {
    pub(crate) logical_id: &'a str,
    pub(crate) physical_name: &'a str,
}

impl TableRestore {
    /// `restored_names` contains the names of the restored tables, in the order of
    /// [`table_logical_ids`]. It contains fewer names if only the first tables are restored.
    ///
    /// If the restored tables are already in the stack, the plan uses their incarnation, so that an
    /// interrupted restore can be resumed. Otherwise, the plan uses an incarnation greater than
    /// `configured_incarnation` and every incarnation in the stack.
    pub(crate) fn plan(
        restored_names: &[String],
        configured_incarnation: u32,
        stack_resources: &[StackResource<'_>],
    ) -> Self {
        let imported_incarnation = imported_incarnation(restored_names, stack_resources);
        let stack_incarnations: Vec<u32> = stack_resources
            .iter()
            .filter_map(|resource| incarnation_of_entry_table(resource.logical_id))
            .collect();
        let newest_incarnation =
            stack_incarnations.iter().copied().fold(configured_incarnation, u32::max);
        let incarnation =
            imported_incarnation.unwrap_or_else(|| newest_incarnation.saturating_add(1));
        let mut removed_ids = Vec::new();
        for other_incarnation in stack_incarnations {
            if other_incarnation != incarnation {
                removed_ids.extend(tables_in_stack(other_incarnation, stack_resources));
            }
        }
        let restored_tables =
            table_logical_ids(incarnation).into_iter().zip(restored_names.iter().cloned());
        Self {
            incarnation,
            tables: restored_tables
                .map(|(logical_id, table_name)| ImportedTable { logical_id, table_name })
                .collect(),
            removed_ids,
            is_imported: imported_incarnation.is_some(),
        }
    }

    /// `new_template` is the template of the new incarnation. Returns `None` if either template is
    /// invalid or if `new_template` lacks a restored table.
    pub(crate) fn import_template(
        &self,
        deployed_template: &str,
        new_template: &Value,
    ) -> Option<String> {
        let mut import_template: Value = serde_json::from_str(deployed_template).ok()?;
        let resources = import_template.get_mut("Resources")?.as_object_mut()?;
        for ImportedTable { logical_id, .. } in &self.tables {
            let definition = new_template.get("Resources")?.get(logical_id)?;
            resources.insert(logical_id.clone(), restored_definition(definition)?);
        }
        Some(import_template.to_string())
    }
}

/// Returns `None` if the restored tables are not in the stack.
fn imported_incarnation(
    restored_names: &[String],
    stack_resources: &[StackResource<'_>],
) -> Option<u32> {
    // The Entry table is the first table.
    let restored_entry_table = restored_names.first()?;
    stack_resources
        .iter()
        .filter(|resource| resource.physical_name == restored_entry_table)
        .find_map(|resource| incarnation_of_entry_table(resource.logical_id))
}

fn tables_in_stack(incarnation: u32, stack_resources: &[StackResource<'_>]) -> Vec<String> {
    let mut logical_ids = Vec::from(table_logical_ids(incarnation));
    logical_ids.push(feed_table_logical_id(incarnation));
    logical_ids.retain(|logical_id| {
        stack_resources.iter().any(|resource| resource.logical_id == logical_id)
    });
    logical_ids
}

/// The definition has no `TableName`, because adding or removing that property later would replace
/// the table.
fn restored_definition(definition: &Value) -> Option<Value> {
    let mut restored = definition.clone();
    let properties: &mut Map<String, Value> = restored.get_mut("Properties")?.as_object_mut()?;
    properties.retain(|property, _| !UNRESTORED_PROPERTIES.contains(&property.as_str()));
    properties.insert("DeletionProtectionEnabled".to_owned(), json!(false));
    Some(restored)
}

/// Returns `None` for the logical id of any other resource.
fn incarnation_of_entry_table(logical_id: &str) -> Option<u32> {
    let [first_id, ..] = table_logical_ids(0);
    let suffix = logical_id.strip_prefix(first_id.as_str())?;
    if suffix.is_empty() {
        return Some(0);
    }
    let incarnation = suffix.strip_prefix("Incarnation")?.parse().ok()?;
    // Reject non-canonical numbers, such as those with leading zeros.
    let [canonical_id, ..] = table_logical_ids(incarnation);
    (canonical_id == logical_id).then_some(incarnation)
}

/// Only tables that existed at the requested time are restored.
pub(crate) fn existed_at(created_s: u64, time_s: u64) -> bool {
    created_s < time_s
}

/// The same arguments always yield the same name, so that an interrupted restore finds its tables
/// again.
pub(crate) fn restored_table_name(stack_name: &str, logical_id: &str, time_s: u64) -> String {
    let compact_time = format_utc(time_s).replace([':', '-'], "");
    format!("{stack_name}-{logical_id}-{compact_time}")
}

#[cfg(test)]
mod tests {
    use cellar_stacks::cellar::TABLE_COUNT;
    use cellar_stacks::{Architecture, Config, cellar_stack};

    use super::*;

    const STACK: &str = "cellar";

    fn names(at_s: u64) -> [String; TABLE_COUNT] {
        table_logical_ids(0).map(|id| restored_table_name(STACK, &id, at_s))
    }

    fn resources(incarnations: &[(u32, u64)]) -> Vec<(String, String)> {
        let of = |(incarnation, at_s): &(u32, u64)| {
            table_logical_ids(*incarnation).into_iter().zip(names(*at_s))
        };
        let queue = ("SnapshotQueue".to_owned(), "url".to_owned());
        incarnations.iter().flat_map(of).chain([queue]).collect()
    }

    fn borrowed(resources: &[(String, String)]) -> Vec<StackResource<'_>> {
        resources
            .iter()
            .map(|(logical_id, physical_name)| StackResource { logical_id, physical_name })
            .collect()
    }

    fn id_and_name(table: ImportedTable) -> (String, String) {
        (table.logical_id, table.table_name)
    }

    fn plan_restore(at_s: u64, configured: u32, incarnations: &[(u32, u64)]) -> TableRestore {
        let existing = resources(incarnations);
        TableRestore::plan(&names(at_s), configured, &borrowed(&existing))
    }

    #[test]
    fn a_table_exists_from_the_second_after_its_creation() {
        assert!(existed_at(9, 10) && !existed_at(9, 9) && !existed_at(9, 8));
    }

    #[test]
    fn names_contain_table_and_time() {
        let name = restored_table_name("cellar-prod", "EntryTable", 1_795_000_000);
        assert_eq!(name, "cellar-prod-EntryTable-20261118T110640Z");
    }

    #[test]
    fn the_next_incarnation_follows_all_others() {
        let first = plan_restore(9, 0, &[(0, 0)]);
        assert_eq!((first.incarnation, first.is_imported), (1, false));
        assert_eq!(first.removed_ids, table_logical_ids(0));
        let first_table = id_and_name(first.tables[0].clone());
        assert_eq!(first_table, ("EntryTableIncarnation1".to_owned(), names(9)[0].clone()));
        assert_eq!(plan_restore(9, 4, &[(0, 0)]).incarnation, 5);
        assert_eq!(plan_restore(9, 1, &[(2, 0)]).incarnation, 3);
        let again = plan_restore(9, 0, &[(0, 0), (1, 9)]);
        assert_eq!(
            (again.incarnation, again.is_imported),
            (1, true),
            "an interrupted restore resumes"
        );
        assert_eq!(again.removed_ids, table_logical_ids(0));
        let other = plan_restore(8, 1, &[(0, 0), (1, 9)]);
        assert_eq!((other.incarnation, other.is_imported), (2, false), "another time");
        assert_eq!(other.removed_ids, [table_logical_ids(0), table_logical_ids(1)].concat());
    }

    #[test]
    fn a_stack_without_an_event_stream_table_is_restored() {
        let before: Vec<_> = resources(&[(0, 0)])
            .into_iter()
            .filter(|(id, _)| !id.starts_with("EventStreamTable"))
            .collect();
        let plan = |existing: &[(String, String)], names: &[String]| {
            TableRestore::plan(names, 0, &borrowed(existing))
        };
        let (names, ids) =
            (names(9), |incarnation| table_logical_ids(incarnation)[..TABLE_COUNT - 1].to_vec());
        let planned = plan(&before, &names[..TABLE_COUNT - 1]);
        let restored: Vec<_> =
            planned.tables.iter().map(|table| table.logical_id.clone()).collect();
        assert_eq!((restored, planned.removed_ids), (ids(1), ids(0)));
        // After the import, a second run finds the restored tables in the stack.
        let imported: Vec<_> =
            before.into_iter().chain(planned.tables.into_iter().map(id_and_name)).collect();
        let again = plan(&imported, &names[..TABLE_COUNT - 1]);
        assert_eq!((again.is_imported, &again.removed_ids), (true, &ids(0)));
        // The Feed table contains derived data. It is removed together with the current tables, but
        // not restored.
        let index = ("FeedTable".to_owned(), "cellar-FeedTable".to_owned());
        let indexed: Vec<_> = resources(&[(0, 0)]).into_iter().chain([index]).collect();
        let planned = plan(&indexed, &names);
        assert_eq!(
            planned.removed_ids,
            [&table_logical_ids(0)[..], &["FeedTable".to_owned()]].concat()
        );
        assert_eq!(planned.tables.len(), TABLE_COUNT);
        let wanted =
            cellar_stack(&Config { incarnation: 1, ..Config::default() }, Architecture::Arm64);
        let deployed = json!({ "Resources": {} }).to_string();
        let template = again.import_template(&deployed, &wanted.unwrap().to_value()).unwrap();
        assert!(
            template.contains("EntryTableIncarnation1") && !template.contains("EventStreamTable")
        );
    }

    #[test]
    fn only_entry_table_ids_have_an_incarnation() {
        assert_eq!(incarnation_of_entry_table("EntryTable"), Some(0));
        assert_eq!(incarnation_of_entry_table("EntryTableIncarnation12"), Some(12));
        for id in [
            "EntryTableIncarnation",
            "EntryTableIncarnation0",
            "EntryTableIncarnation01",
            "EntryTable1",
            "Bucket",
        ] {
            assert_eq!(incarnation_of_entry_table(id), None, "{id}");
        }
    }

    #[test]
    fn the_import_template_adds_only_the_bare_tables() {
        let synthesize = |incarnation| {
            let config = Config { incarnation, ..Config::default() };
            cellar_stack(&config, Architecture::Arm64).unwrap()
        };
        let (deployed, wanted) = (synthesize(0), synthesize(1).to_value());
        let planned = plan_restore(9, 0, &[(0, 0)]);
        let template = planned.import_template(&deployed.to_json(), &wanted).unwrap();
        let mut template: Value = serde_json::from_str(&template).unwrap();
        for ImportedTable { logical_id: id, .. } in &planned.tables {
            let table = template["Resources"].as_object_mut().unwrap().remove(id).unwrap();
            assert!(table["DeletionPolicy"].as_str().unwrap().starts_with("Retain"), "{id}");
            let properties = table["Properties"].as_object().unwrap();
            assert_eq!(properties["DeletionProtectionEnabled"], false);
            let key = if id.starts_with("EventStream") { "i" } else { "N" };
            assert_eq!(properties["KeySchema"][1]["AttributeName"], key);
            let named: Vec<&str> = properties.keys().map(String::as_str).collect();
            let bare =
                ["AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled", "KeySchema"];
            assert_eq!(named, bare, "{id}");
        }
        assert_eq!(template, deployed.to_value(), "an import must not change other resources");
        assert_eq!(planned.import_template("[]", &wanted), None);
        assert_eq!(planned.import_template(&deployed.to_json(), &deployed.to_value()), None);
    }
}

//! Rules of a restore to a point in time: which tables, under which names and logical ids, and what
//! template takes them into the stack.
//!
//! Tables are never restored in place, and nothing that runs is given restored ones. They come into the
//! stack beside the old ones, under a new incarnation; the next deployment points the functions at them. So a
//! process that knows positions behind the moment writes to the old tables, whatever it still does, and
//! a client that knows such positions is told by the incarnation that it has to load again.

use cellar_stacks::cellar::{feed_table, tables};
use serde_json::{Map, Value, json};

use crate::moment::utc;

/// Properties that a restored table does not have until the stack is deployed.
const NOT_RESTORED: [&str; 3] = ["StreamSpecification", "PointInTimeRecoverySpecification", "Tags"];

/// Why tables cannot be restored.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum RestoreError {
    /// A table without point-in-time recovery.
    #[error("the table {table} has no point-in-time recovery")]
    #[diagnostic(
        code(synth::restore::no_recovery),
        help(
            "`synth drift` shows what was changed by hand; from when it is on, a table can be restored"
        )
    )]
    NoRecovery {
        /// Its name.
        table: String,
    },
    /// The requested time is outside the restorable range.
    #[error("cannot restore the tables to {at}: the restorable range is {from} to {to}")]
    #[diagnostic(
        code(synth::restore::out_of_range),
        help("pass a time in this range with --to, or `--to latest`")
    )]
    OutOfRange {
        /// The requested time.
        at: String,
        /// The first.
        from: String,
        /// The last.
        to: String,
    },
    /// A table with the name of a restored one that is something else.
    #[error("there is a table {table}, and it is not {source_table} of that moment")]
    #[diagnostic(
        code(synth::restore::name_taken),
        help("delete it or restore to another moment: a second more or less gives another name")
    )]
    NameTaken {
        /// The name.
        table: String,
        /// What it should have been restored from.
        source_table: String,
    },
    /// A stack without what a restore needs.
    #[error("the deployed stack {stack} has no {what}")]
    #[diagnostic(
        code(synth::restore::other_stack),
        help("`synth deploy` brings it to this version, `synth restore` goes on from there")
    )]
    OtherStack {
        /// The stack's name.
        stack: String,
        /// What is missing.
        what: &'static str,
    },
    /// A table that is not there long after it was asked for.
    #[error("the table {table} is not restored yet")]
    #[diagnostic(
        code(synth::restore::slow),
        help("AWS goes on with it: run the same command again later")
    )]
    Slow {
        /// Its name.
        table: String,
    },
}

/// A restore, as far as it is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Restoring {
    /// The incarnation of the restored tables.
    pub(crate) incarnation: u32,
    /// Their logical ids, with their names.
    pub(crate) tables: Vec<(String, String)>,
    /// Logical ids of the stack's other tables, which leave it with the next deployment.
    pub(crate) leaving: Vec<String>,
    /// Whether the stack has them already.
    pub(crate) is_imported: bool,
}

impl Restoring {
    /// Decides under which incarnation tables of these `names` come into a stack, which has `resources`
    /// (logical ids and names): the one that they have, or the next after all that there are and the
    /// one of the configuration. The names are in the order of [`tables`], and none for tables that are
    /// not restored: the next deployment makes these, empty.
    pub(crate) fn decide(names: &[String], configured: u32, resources: &[(&str, &str)]) -> Self {
        let incarnations =
            resources.iter().filter_map(|(id, name)| Some((incarnation_of(id)?, *name)));
        let imported =
            incarnations.clone().find(|(_, name)| Some(*name) == names.first().map(String::as_str));
        let newest =
            incarnations.clone().map(|(incarnation, _)| incarnation).max().unwrap_or_default();
        let next = newest.max(configured).saturating_add(1);
        let incarnation = imported.map_or(next, |(incarnation, _)| incarnation);
        Self {
            incarnation,
            tables: tables(incarnation).into_iter().zip(names.iter().cloned()).collect(),
            leaving: incarnations
                .filter(|(other, _)| *other != incarnation)
                .flat_map(|(it, _)| tables(it).into_iter().chain([feed_table(it)]))
                .filter(|table| resources.iter().any(|(id, _)| id == table))
                .collect(),
            is_imported: imported.is_some(),
        }
    }

    /// The deployed template with the restored tables in addition, as they are: without what only a
    /// deployment gives them. `None` if one of the templates is none, or has not what it should.
    pub(crate) fn import_template(&self, deployed: &str, wanted: &Value) -> Option<String> {
        let mut template: Value = serde_json::from_str(deployed).ok()?;
        let resources = template.get_mut("Resources")?.as_object_mut()?;
        for (id, _) in &self.tables {
            let table = wanted.get("Resources")?.get(id)?;
            resources.insert(id.clone(), restored(table)?);
        }
        Some(template.to_string())
    }
}

/// A table of the template as it is when it was just restored. Its name is not in the template, before
/// or after: where it came into one, or went, the table would be replaced.
fn restored(table: &Value) -> Option<Value> {
    let mut table = table.clone();
    let properties: &mut Map<String, Value> = table.get_mut("Properties")?.as_object_mut()?;
    properties.retain(|property, _| !NOT_RESTORED.contains(&property.as_str()));
    properties.insert("DeletionProtectionEnabled".to_owned(), json!(false));
    Some(table)
}

/// The incarnation that a logical id of an Entry table says.
fn incarnation_of(logical_id: &str) -> Option<u32> {
    let [first, ..] = tables(0);
    let rest = logical_id.strip_prefix(first.as_str())?;
    if rest.is_empty() {
        return Some(0);
    }
    let incarnation = rest.strip_prefix("Incarnation")?.parse().ok()?;
    let [same, ..] = tables(incarnation);
    (same == logical_id).then_some(incarnation)
}

/// Whether a table that was made then (both Unix seconds) has anything to restore at a moment. One that was not
/// there yet is left out of a restore, which it would only keep from going back that far.
pub(crate) fn was_there(made_s: u64, at_s: u64) -> bool {
    made_s < at_s
}

/// The name of a table of a stack as it was at a moment (Unix seconds): the same for whoever asks again.
pub(crate) fn restored_name(stack: &str, logical_id: &str, at_s: u64) -> String {
    format!("{stack}-{logical_id}-{}", utc(at_s).replace([':', '-'], ""))
}

#[cfg(test)]
mod tests {
    use cellar_stacks::cellar::TABLES;
    use cellar_stacks::{Architecture, Config, cellar_stack};

    use super::*;

    const STACK: &str = "cellar";

    fn names(at_s: u64) -> [String; TABLES] {
        tables(0).map(|id| restored_name(STACK, &id, at_s))
    }

    fn resources(incarnations: &[(u32, u64)]) -> Vec<(String, String)> {
        let of =
            |(incarnation, at_s): &(u32, u64)| tables(*incarnation).into_iter().zip(names(*at_s));
        let queue = ("SnapshotQueue".to_owned(), "url".to_owned());
        incarnations.iter().flat_map(of).chain([queue]).collect()
    }

    fn borrowed(resources: &[(String, String)]) -> Vec<(&str, &str)> {
        resources.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect()
    }

    fn decide(at_s: u64, configured: u32, incarnations: &[(u32, u64)]) -> Restoring {
        let there = resources(incarnations);
        Restoring::decide(&names(at_s), configured, &borrowed(&there))
    }

    #[test]
    fn a_table_is_there_from_the_second_after_the_one_in_which_it_was_made() {
        assert!(was_there(9, 10) && !was_there(9, 9) && !was_there(9, 8));
    }

    #[test]
    fn names_say_which_table_and_when() {
        let name = restored_name("cellar-prod", "EntryTable", 1_795_000_000);
        assert_eq!(name, "cellar-prod-EntryTable-20261118T110640Z");
    }

    #[test]
    fn the_next_incarnation_is_after_all_that_there_are_and_the_one_of_the_configuration() {
        let first = decide(9, 0, &[(0, 0)]);
        assert_eq!((first.incarnation, first.is_imported), (1, false));
        assert_eq!(first.leaving, tables(0));
        assert_eq!(first.tables[0], ("EntryTableIncarnation1".to_owned(), names(9)[0].clone()));
        assert_eq!(decide(9, 4, &[(0, 0)]).incarnation, 5);
        assert_eq!(decide(9, 1, &[(2, 0)]).incarnation, 3);
        let again = decide(9, 0, &[(0, 0), (1, 9)]);
        assert_eq!((again.incarnation, again.is_imported), (1, true), "what was begun goes on");
        assert_eq!(again.leaving, tables(0));
        let other = decide(8, 1, &[(0, 0), (1, 9)]);
        assert_eq!((other.incarnation, other.is_imported), (2, false), "another moment");
        assert_eq!(other.leaving, [tables(0), tables(1)].concat());
    }

    #[test]
    fn a_stack_of_before_there_were_streams_gets_back_what_it_has() {
        let before: Vec<_> = resources(&[(0, 0)])
            .into_iter()
            .filter(|(id, _)| !id.starts_with("EventStreamTable"))
            .collect();
        let there = |there: &[(String, String)], names: &[String]| {
            Restoring::decide(names, 0, &borrowed(there))
        };
        let (names, ids) = (names(9), |incarnation| tables(incarnation)[..TABLES - 1].to_vec());
        let decided = there(&before, &names[..TABLES - 1]);
        let restored: Vec<_> = decided.tables.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!((restored, decided.leaving), (ids(1), ids(0)));
        // The deployment that follows makes the table, and the next restore finds it.
        let imported: Vec<_> = before.into_iter().chain(decided.tables).collect();
        let again = there(&imported, &names[..TABLES - 1]);
        assert_eq!((again.is_imported, &again.leaving), (true, &ids(0)));
        // What is made of the tables goes with them, and is not restored.
        let index = ("FeedTable".to_owned(), "cellar-FeedTable".to_owned());
        let indexed: Vec<_> = resources(&[(0, 0)]).into_iter().chain([index]).collect();
        let decided = there(&indexed, &names);
        assert_eq!(decided.leaving, [&tables(0)[..], &["FeedTable".to_owned()]].concat());
        assert_eq!(decided.tables.len(), TABLES);
        let wanted =
            cellar_stack(&Config { incarnation: 1, ..Config::default() }, Architecture::Arm64);
        let deployed = json!({ "Resources": {} }).to_string();
        let template = again.import_template(&deployed, &wanted.unwrap().to_value()).unwrap();
        assert!(
            template.contains("EntryTableIncarnation1") && !template.contains("EventStreamTable")
        );
    }

    #[test]
    fn only_ids_of_entry_tables_say_an_incarnation() {
        assert_eq!(incarnation_of("EntryTable"), Some(0));
        assert_eq!(incarnation_of("EntryTableIncarnation12"), Some(12));
        for id in [
            "EntryTableIncarnation",
            "EntryTableIncarnation0",
            "EntryTableIncarnation01",
            "EntryTable1",
            "Bucket",
        ] {
            assert_eq!(incarnation_of(id), None, "{id}");
        }
    }

    #[test]
    fn the_template_that_imports_is_the_deployed_one_and_the_bare_tables() {
        let synthesize = |incarnation| {
            let config = Config { incarnation, ..Config::default() };
            cellar_stack(&config, Architecture::Arm64).unwrap()
        };
        let (deployed, wanted) = (synthesize(0), synthesize(1).to_value());
        let decided = decide(9, 0, &[(0, 0)]);
        let template = decided.import_template(&deployed.to_json(), &wanted).unwrap();
        let mut template: Value = serde_json::from_str(&template).unwrap();
        for (id, _) in &decided.tables {
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
        assert_eq!(template, deployed.to_value(), "nothing else may change in an import");
        assert_eq!(decided.import_template("[]", &wanted), None);
        assert_eq!(decided.import_template(&deployed.to_json(), &deployed.to_value()), None);
    }
}

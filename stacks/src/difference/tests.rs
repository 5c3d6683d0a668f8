//! Tests of entire comparisons, which make single or random changes to Cellar's own template.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::constructs::Effect;
use crate::{Architecture, Config, Template, cellar_stack};

fn cellar() -> Value {
    let config = Config { cors_origins: vec!["https://a.example".to_owned()], ..Config::default() };
    let template: Template = cellar_stack(&config, Architecture::Arm64).unwrap();
    template.to_value()
}

fn document(value: &Value) -> Document {
    Document::read(&value.to_string()).unwrap()
}

fn between(old: &Value, new: &Value) -> Difference {
    Difference::between(Some(&document(old)), &document(new)).unwrap()
}

/// Returns the difference between Cellar's template and an edited copy.
fn difference_after(edit: impl FnOnce(&mut Value)) -> Difference {
    let old = cellar();
    let mut new = old.clone();
    edit(&mut new);
    between(&old, &new)
}

fn change<'a>(difference: &'a Difference, logical_id: &str) -> &'a ResourceChange {
    let found = difference.resources.iter().find(|change| change.logical_id == logical_id);
    found.unwrap_or_else(|| panic!("{logical_id} is not in {difference:#?}"))
}

fn remove(value: &mut Value, pointer: &str, key: &str) {
    value.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key).unwrap();
}

#[test]
fn a_template_does_not_differ_from_itself() {
    let difference = difference_after(|_| {});
    assert!(difference.is_empty() && difference.resources.is_empty(), "{difference:#?}");
    assert!(difference.permissions.is_empty() && difference.sections.is_empty());
}

#[test]
fn without_an_old_template_everything_is_added() {
    let new = document(&cellar());
    let difference = Difference::between(None, &new).unwrap();
    assert_eq!(difference.resources.len(), new.resources.len());
    assert!(difference.resources.iter().all(|change| change.action == ChangeAction::Add));
    assert!(difference.resources.iter().all(|change| change.risks.is_empty()));
    assert_eq!(difference.severity, Severity::Broadening);
    assert!(difference.permissions.narrowed.iter().all(|grant| grant.effect == Effect::Deny));
}

#[test]
fn another_timeout_is_an_update() {
    let difference = difference_after(|new| {
        new["Resources"]["ApiFunction"]["Properties"]["Timeout"] = json!(30);
    });
    assert_eq!(difference.severity, Severity::Update);
    let change = change(&difference, "ApiFunction");
    assert_eq!(change.action, ChangeAction::Update);
    assert_eq!(
        change.properties,
        [PropertyChange {
            path: "/Properties/Timeout".to_owned(),
            old: Some(json!(29)),
            new: Some(json!(30)),
            update: Update::InPlace,
        }]
    );
    assert_eq!(difference.resources.len(), 1);
}

#[test]
fn another_key_replaces_the_table_and_its_event_source() {
    let difference = difference_after(|new| {
        new["Resources"]["EntryTable"]["Properties"]["KeySchema"][0]["AttributeName"] = json!("X");
    });
    assert_eq!(difference.severity, Severity::Destructive);
    let table = change(&difference, "EntryTable");
    assert_eq!((table.action, table.holds_data), (ChangeAction::Replace, true));
    assert_eq!(table.risks, [Risk::Replaced { certain: true, kept: true }]);
    assert_eq!(difference.resources[0].logical_id, "EntryTable", "the gravest first");
    let source = change(&difference, "RelaySource");
    assert_eq!((source.action, source.severity), (ChangeAction::Replace, Severity::Replacement));
    assert!(source.follows.contains("EntryTable") && source.properties.is_empty());
    let function = change(&difference, "ApiFunction");
    assert_eq!((function.action, function.severity), (ChangeAction::Update, Severity::Update));
}

#[test]
fn another_stream_replaces_its_event_source() {
    let difference = difference_after(|new| {
        new["Resources"]["EntryTable"]["Properties"]["StreamSpecification"]["StreamViewType"] =
            json!("KEYS_ONLY");
    });
    assert_eq!(change(&difference, "EntryTable").action, ChangeAction::Update);
    assert_eq!(change(&difference, "RelaySource").action, ChangeAction::Replace);
    assert!(difference.resources.iter().all(|it| it.logical_id != "ApiFunction"));
    assert_eq!(difference.severity, Severity::Replacement);
}

/// Removing the limit is no risk either: no data depends on it.
#[test]
fn a_write_limit_is_a_plain_update_in_both_directions() {
    let config = Config::default();
    let mut limited = Config::default();
    limited.limits.write_units_per_second = Some(400);
    let [unlimited, limited] = [config, limited].map(|config| {
        let template = cellar_stack(&config, Architecture::X86_64).unwrap();
        Document::from(&template)
    });
    for (old, new) in [(&unlimited, &limited), (&limited, &unlimited)] {
        let difference = Difference::between(Some(old), new).unwrap();
        let table = change(&difference, "EntryTable");
        assert_eq!((table.action, table.severity), (ChangeAction::Update, Severity::Update));
        assert!(table.risks.is_empty(), "{:?}", table.risks);
        assert_eq!(difference.severity, Severity::Update);
        assert_eq!(difference.resources.len(), 1);
    }
}

#[test]
fn a_replaced_bucket_replaces_its_policy() {
    let difference = difference_after(|new| {
        new["Resources"]["Bucket"]["Properties"]["BucketName"] = json!("fixed");
        remove(new, "/Resources/Bucket", "UpdateReplacePolicy");
    });
    assert_eq!(change(&difference, "BucketPolicy").action, ChangeAction::Replace);
    let risks = &change(&difference, "Bucket").risks;
    assert!(risks.contains(&Risk::Replaced { certain: true, kept: false }), "{risks:?}");
}

#[test]
fn removed_data_is_destructive_even_when_it_is_kept() {
    // The two resources have different removal policies, but both retain data.
    for id in ["SegmentTable", "Bucket"] {
        let difference = difference_after(|new| remove(new, "/Resources", id));
        let change = change(&difference, id);
        assert_eq!(
            (change.action, change.severity),
            (ChangeAction::Abandon, Severity::Destructive)
        );
        assert_eq!(change.risks, [Risk::Removed { kept: true }]);
    }
}

#[test]
fn a_removed_alarm_is_an_update() {
    let difference = difference_after(|new| remove(new, "/Resources", "SnapshotQueueAgeAlarm"));
    assert_eq!(change(&difference, "SnapshotQueueAgeAlarm").action, ChangeAction::Remove);
    assert_eq!(difference.severity, Severity::Update);
}

#[test]
fn a_broader_role_is_listed_before_a_replacement() {
    let difference = difference_after(|new| {
        let role = "/Resources/ApiRole/Properties/Policies/0/PolicyDocument/Statement/0/Action/0";
        *new.pointer_mut(role).unwrap() = json!("dynamodb:*");
        new["Resources"]["ApiLogGroup"]["Properties"]["LogGroupName"] = json!("fixed");
    });
    assert_eq!(difference.severity, Severity::Broadening);
    let order: Vec<Severity> = difference.resources.iter().map(|it| it.severity).collect();
    assert!(order.is_sorted_by(|one, two| one >= two), "{order:?}");
    assert_eq!(change(&difference, "ApiRole").severity, Severity::Broadening);
    assert_eq!(change(&difference, "ApiLogGroup").severity, Severity::Replacement);
    assert_eq!(difference.permissions.broadened[0].actions, ["dynamodb:*"]);
}

#[test]
fn another_type_is_another_resource() {
    let difference =
        difference_after(|new| new["Resources"]["Bucket"]["Type"] = json!("AWS::S3::Other"));
    let bucket = change(&difference, "Bucket");
    assert_eq!(bucket.action, ChangeAction::Replace);
    assert!(bucket.holds_data && bucket.severity == Severity::Destructive);
}

#[test]
fn any_change_may_replace_an_unknown_type() {
    let resource = |value: u32| json!({"Resources": {"X": {"Type": "AWS::EC2::Thing", "Properties": {"A": value}}}});
    let difference = between(&resource(1), &resource(2));
    assert_eq!(difference.resources[0].action, ChangeAction::MayReplace);
    assert_eq!(difference.severity, Severity::Replacement);
}

#[test]
fn metadata_and_dependencies_are_updates() {
    let difference = difference_after(|new| {
        remove(new, "/Resources/Bucket", "Metadata");
        new["Resources"]["ApiUrl"]["DependsOn"] = json!("ApiRole");
    });
    assert_eq!(difference.severity, Severity::Update);
    assert_eq!(change(&difference, "Bucket").properties[0].path, "/Metadata");
    assert_eq!(change(&difference, "ApiUrl").properties[0].path, "/DependsOn");
}

#[test]
fn other_sections_are_compared_by_their_entries() {
    let difference = difference_after(|new| {
        new["Outputs"]["ApiUrl"]["Description"] = json!("other");
        remove(new, "/Parameters", "ArtifactKey");
        new["Conditions"] = json!({"Never": {"Fn::Equals": ["a", "b"]}});
        new["Metadata"] = json!({"made": "by hand"});
        new["Description"] = json!("another");
    });
    let paths: Vec<&str> = difference.sections.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/Conditions/Never",
            "/Description",
            "/Metadata/made",
            "/Outputs/ApiUrl/Description",
            "/Parameters/ArtifactKey",
        ]
    );
    assert_eq!(difference.severity, Severity::Update);
}

#[test]
fn json_has_the_documented_shape() {
    let difference = difference_after(|new| {
        new["Resources"]["EntryTable"]["Properties"]["DeletionProtectionEnabled"] = json!(false);
    });
    assert_eq!(
        serde_json::to_value(&difference).unwrap(),
        json!({
            "severity": "destructive",
            "resources": [{
                "logical_id": "EntryTable",
                "type": "AWS::DynamoDB::Table",
                "action": "update",
                "severity": "destructive",
                "holds_data": true,
                "risks": [{"kind": "weakened", "protection": "DeletionProtectionEnabled",
                    "old": "true", "new": "false"}],
                "follows": [],
                "properties": [{"path": "/Properties/DeletionProtectionEnabled",
                    "old": true, "new": false, "update": "in_place"}],
            }],
            "permissions": {"broadened": [], "narrowed": []},
            "sections": [],
        })
    );
}

/// A change of a random entry in Cellar's template. If the new value is `None`, the change removes
/// the entry.
#[derive(Clone, Debug)]
struct Mutation {
    place: prop::sample::Index,
    with: Option<Value>,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let value = prop_oneof![
        Just(None),
        "[a-z]{1,8}x".prop_map(|text| Some(json!(text))),
        Just(Some(json!({"Ref": "Bucket"}))),
        (1_000_000_u32..).prop_map(|number| Some(json!(number))),
        Just(Some(json!([{"unknown": 1}]))),
    ];
    (any::<prop::sample::Index>(), value).prop_map(|(place, with)| Mutation { place, with })
}

/// Collects the path and key of every map entry in the template.
fn places(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                // Types and intrinsic functions are not edited, because the edited template would
                // be invalid.
                let is_fixed = ["Type", "Ref"].contains(&key.as_str()) || key.starts_with("Fn::");
                if !is_fixed && path.split('/').count() > 2 {
                    found.push((path.to_owned(), key.clone()));
                }
                places(inner, &format!("{path}/{escaped}"), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn mutated(old: &Value, mutations: &[Mutation]) -> Value {
    let mut new = old.clone();
    for Mutation { place, with } in mutations {
        let mut found = Vec::new();
        places(&new, "", &mut found);
        let (path, key) = place.get(&found).clone();
        let map = new.pointer_mut(&path).unwrap().as_object_mut().unwrap();
        match with {
            Some(value) => map.insert(key, value.clone()),
            None => map.remove(&key),
        };
    }
    new
}

/// Reverses all lists that are compared as sets.
fn reverse_sets(value: &mut Value, is_set: bool) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let sets = ["Action", "Resource", "Statement", "Policies", "AttributeDefinitions"];
                reverse_sets(inner, sets.contains(&key.as_str()));
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| reverse_sets(item, false));
            if is_set {
                items.reverse();
            }
        }
        _ => {}
    }
}

#[test]
fn reversed_sets_are_not_a_change() {
    let difference = difference_after(|new| reverse_sets(new, false));
    assert!(difference.is_empty(), "{difference:#?}");
}

type Sides = (String, Option<Value>, Option<Value>);

fn sides(changes: &[PropertyChange], swapped: bool) -> Vec<Sides> {
    let mut sides: Vec<Sides> = changes
        .iter()
        .cloned()
        .map(|change| match swapped {
            false => (change.path, change.old, change.new),
            true => (change.path, change.new, change.old),
        })
        .collect();
    sides.sort_by_key(|(path, old, new)| format!("{path} {old:?} {new:?}"));
    sides
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn exactly_the_changes_are_found(
        mutations in prop::collection::vec(mutation(), 0..4)
    ) {
        let old = cellar();
        let new = mutated(&old, &mutations);
        let (one, two) = (document(&old), document(&new));
        let difference = between(&old, &new);
        prop_assert_eq!(one == two, difference.is_empty(), "{:#?}", difference);
        prop_assert!(between(&new, &new).is_empty());
    }

    #[test]
    fn a_single_change_is_found_where_it_is(mutation in mutation()) {
        let old = cellar();
        let new = mutated(&old, std::slice::from_ref(&mutation));
        let mut found = Vec::new();
        places(&old, "", &mut found);
        let (path, _) = mutation.place.get(&found);
        let mut names = path.split('/').skip(1);
        let (section, name) = (names.next().unwrap(), names.next().unwrap());
        let difference = between(&old, &new);
        // Removing an empty value has no effect.
        prop_assume!(document(&old) != document(&new));
        if section == "Resources" {
            let ids: Vec<&str> =
                difference.resources.iter().map(|change| change.logical_id.as_str()).collect();
            prop_assert!(ids.contains(&name), "{} {} {:?}", path, name, ids);
        } else {
            let prefix = format!("/{section}/{name}");
            let hit = difference.sections.iter().any(|change| change.path.starts_with(&prefix));
            prop_assert!(hit, "{} {:?}", prefix, difference.sections);
        }
    }

    #[test]
    fn a_damaged_text_is_rejected_or_compared(
        yaml in any::<bool>(),
        from in any::<prop::sample::Index>(),
        length in 0_usize..200,
        with in "[\\[\\]{}&*a:,\"'0 \n-]{0,20}|\\PC{0,20}",
    ) {
        let template = Template::from_json(&cellar().to_string()).unwrap();
        let text = if yaml { template.to_yaml() } else { template.to_json() };
        let mut letters: Vec<char> = text.chars().collect();
        let start = from.index(letters.len());
        let end = letters.len().min(start + length);
        letters.splice(start..end, with.chars());
        let damaged: String = letters.into_iter().collect();
        if let Ok(new) = Document::read(&damaged) {
            let old = Document::from(&template);
            let difference = Difference::between(Some(&old), &new).unwrap();
            prop_assert_eq!(difference.is_empty(), old == new);
        }
    }

    #[test]
    fn swapping_the_templates_reverses_the_difference(
        mutations in prop::collection::vec(mutation(), 0..4),
        removed in any::<prop::sample::Index>(),
    ) {
        let old = cellar();
        let mut new = mutated(&old, &mutations);
        let resources = new["Resources"].as_object_mut().unwrap();
        let ids: Vec<String> = resources.keys().cloned().collect();
        resources.remove(removed.get(&ids));
        let (there, back) = (between(&old, &new), between(&new, &old));
        prop_assert_eq!(sides(&there.sections, true), sides(&back.sections, false));
        let added = |difference: &Difference| -> BTreeSet<String> {
            let added = difference.resources.iter().filter(|it| it.action == ChangeAction::Add);
            added.map(|change| change.logical_id.clone()).collect()
        };
        let gone = |difference: &Difference| -> BTreeSet<String> {
            let gone = |action| matches!(action, ChangeAction::Remove | ChangeAction::Abandon);
            let gone = difference.resources.iter().filter(|it| gone(it.action));
            gone.map(|change| change.logical_id.clone()).collect()
        };
        prop_assert_eq!(added(&there), gone(&back));
        prop_assert_eq!(gone(&there), added(&back));
        let properties = |difference: &Difference, swapped| -> BTreeMap<String, Vec<Sides>> {
            let changed = difference.resources.iter().filter(|it| !it.properties.is_empty());
            changed.map(|it| (it.logical_id.clone(), sides(&it.properties, swapped))).collect()
        };
        prop_assert_eq!(properties(&there, true), properties(&back, false));
        prop_assert!(there.resources.is_sorted_by(|one, two| one.severity >= two.severity));
    }
}

//! Pictures of stacks: which boxes and arrows they have, and that Mermaid can read them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "picture/arrows.rs"]
mod arrows;
#[path = "picture/bounds.rs"]
mod bounds;
#[path = "picture/changes.rs"]
mod changes;
#[path = "picture/drawing.rs"]
mod drawing;
#[path = "picture/parser.rs"]
mod parser;
#[path = "picture/stacks.rs"]
mod stacks;

use std::path::Path;
use std::{env, fs};

use cellar_stacks::config::{Encryption, Webhook};
use cellar_stacks::difference::{Difference, Document};
use cellar_stacks::picture::{PictureError, draw_changes, draw_stack};
use cellar_stacks::{Architecture, Config, FeedScope, cellar_stack};
use serde_json::Value;

/// Environment variable that rewrites the committed pictures.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

fn document(template: &Value) -> Document {
    Document::read(&template.to_string()).unwrap()
}

fn template(config: &Config) -> Value {
    cellar_stack(config, Architecture::X86_64).unwrap().to_value()
}

fn picture(config: &Config) -> String {
    draw_stack(&document(&template(config))).unwrap()
}

fn picture_of_changes(old: &Value, new: &Value) -> String {
    try_to_draw_changes(old, new).unwrap()
}

fn try_to_draw_changes(old: &Value, new: &Value) -> Result<String, PictureError> {
    let (old, new) = (document(old), document(new));
    let difference = Difference::between(Some(&old), &new).unwrap();
    draw_changes(&old, &new, &difference.resources)
}

type ConfigChange = fn(&mut Config);

/// Returns a configuration for each option that changes resources, and one with all of them.
fn variants() -> Vec<(&'static str, Config)> {
    let changes: [(&str, ConfigChange); 10] = [
        ("key", |config| {
            let key =
                "arn:aws:kms:eu-central-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef";
            config.encryption = Encryption { kms_key_arn: Some(key.to_owned()) };
        }),
        ("email", |config| config.alarms.email = Some("operators@example.com".to_owned())),
        ("topic", |config| {
            let topic = "arn:aws:sns:eu-central-1:123456789012:operators";
            config.alarms.topic_arn = Some(topic.to_owned());
        }),
        ("origins", |config| config.cors_origins = vec!["https://a.example".to_owned()]),
        ("dashboard", |config| config.dashboard = true),
        ("tracing", |config| config.tracing = true),
        ("tags", |config| config.tags = [("team".to_owned(), "books".to_owned())].into()),
        ("webhook", |config| {
            let url = "https://hooks.example.com/cellar".to_owned();
            config.webhook = Some(Webhook { url, payloads: true });
        }),
        ("feed", |config| config.feed = FeedScope::Everything),
        ("unprotected", |config| config.deletion_protection = false),
    ];
    let mut everything = Config::default();
    let mut variants = vec![("default", Config::default())];
    for (name, change) in changes {
        let mut config = Config::default();
        change(&mut config);
        change(&mut everything);
        variants.push((name, config));
    }
    let mut no_snapshots = Config::default();
    no_snapshots.snapshots.enabled = false;
    variants.push(("no-snapshots", no_snapshots));
    let mut next_incarnation = Config::default();
    next_incarnation.incarnation += 1;
    variants.push(("next-incarnation", next_incarnation));
    variants.push(("everything", everything));
    variants
}

/// Compares a picture with a Mermaid block of a document, or rewrites the block.
fn check_block(file: &str, heading: &str, picture: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(heading).unwrap();
    let (between, rest) = rest.split_once("```mermaid\n").unwrap();
    let (block, after) = rest.split_once("```\n").unwrap();
    if env::var_os(UPDATE).is_some() {
        let updated = format!("{before}{heading}{between}```mermaid\n{picture}```\n{after}");
        fs::write(&path, updated).unwrap();
        return;
    }
    assert!(
        block == picture,
        "the picture in {file} is stale:\n{picture}\nRun: {UPDATE}=1 cargo test -p cellar-stacks"
    );
}

//! Committed transcripts of failing deployments, so that a change of a message is reviewed in its
//! context.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Environment variable that rewrites the transcripts.
const UPDATE: &str = "UPDATE_SNAPSHOTS";
/// A part of a message that differs in each run.
struct Variable {
    /// Text before the variable part.
    before: &'static str,
    /// Whether a character belongs to the variable part.
    is: fn(char) -> bool,
    /// Minimum number of characters of the variable part.
    least: usize,
    /// Placeholder for the variable part.
    name: &'static str,
}

const VARIABLE: [Variable; 4] = [
    Variable {
        before: "bundles/bootstrap-",
        is: |it| !it.is_whitespace(),
        least: 1,
        name: "bundles/BUNDLE.zip",
    },
    // A UUID has 36 characters, a hash 64.
    Variable { before: "", is: is_of_id, least: 36, name: "ID" },
    Variable {
        before: "http://127.0.0.1:",
        is: |it| it.is_ascii_digit(),
        least: 1,
        name: "http://127.0.0.1:PORT",
    },
    Variable { before: ".rs:", is: |it| it.is_ascii_digit(), least: 1, name: ".rs:LINE" },
];

/// Result of a command.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) arguments: Vec<String>,
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/deploy")
}

/// Compares runs with the committed transcript of this name, or rewrites it.
pub(super) fn check(name: &str, project: &Path, runs: &[&Run]) {
    let mut actual = String::new();
    for run in runs {
        let Run { arguments, code, stdout, stderr } = run;
        let seen = normal(&format!("{stderr}{stdout}"), project);
        writeln!(actual, "$ synth {}\n{seen}(exit code {code})", arguments.join(" ")).unwrap();
    }
    let path = folder().join(format!("{name}.txt"));
    if env::var_os(UPDATE).is_some() {
        fs::write(&path, &actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} is another transcript now. Committed:\n{expected}\nNow:\n{actual}\n\
         If that is intended: {UPDATE}=1 cargo test -p cellar-tests --test integration aws_faults",
        path.display()
    );
}

/// Replaces the parts of an output that differ between runs and machines.
fn normal(text: &str, project: &Path) -> String {
    let text = text.replace(&project.display().to_string(), "PROJECT");
    let mut normal = String::new();
    for line in text.lines() {
        // Omits the list of resources of a new stack, and progress lines, which depend on the speed
        // of the machine.
        if line.starts_with("  + ") || line.starts_with("  … ") {
            continue;
        }
        let line = match line.split_once("A new stack of ") {
            Some(_) => "A new stack of …".to_owned(),
            None => without_sizes(&without_times(line)),
        };
        let line = VARIABLE.iter().fold(line, |line, variable| variable.replaced(&line));
        normal.push_str(&without_key(&line));
        normal.push('\n');
    }
    normal
}

fn is_of_id(character: char) -> bool {
    character.is_ascii_hexdigit() || character == '-'
}

/// Removes a duration such as "(0.1 s)" from the end of a line.
fn without_times(line: &str) -> String {
    match line.rsplit_once(" (") {
        Some((before, time)) if time.ends_with(" s)") => format!("{before} (TIME)"),
        _ => line.to_owned(),
    }
}

/// Replaces sizes such as "31 KB" and "1024 bytes".
fn without_sizes(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let size = |at: usize| words.get(at + 1).is_some_and(|next| ["KB", "bytes"].contains(next));
    let words = words.iter().enumerate().map(
        |(at, word)| {
            if size(at) && is_number(word) { "N" } else { word }
        },
    );
    words.collect::<Vec<&str>>().join(" ")
}

/// Replaces the name of a new key pair.
fn without_key(line: &str) -> String {
    match line.split_once("cellar.yaml, key id ") {
        Some((before, _)) => format!("{before}cellar.yaml, key id KEY"),
        None => line.to_owned(),
    }
}

impl Variable {
    /// Replaces each occurrence of the variable part by its placeholder.
    fn replaced(&self, line: &str) -> String {
        let (mut out, mut rest) = (String::new(), line);
        while let Some(first) = rest.chars().next() {
            let after = rest.strip_prefix(self.before).unwrap_or_default();
            let end = after.trim_start_matches(self.is);
            if rest.starts_with(self.before) && after.len() - end.len() >= self.least {
                out.push_str(self.name);
                rest = end;
            } else {
                out.push(first);
                rest = rest.split_at(first.len_utf8()).1;
            }
        }
        out
    }
}

#[test]
fn what_is_different_each_time_is_not_compared() {
    let id = "01234567-89ab-cdef-0123-456789abcdef";
    let bundle = "bundles/bootstrap-0123-x86_64.zip is";
    assert_eq!(normal(bundle, Path::new("/p")), "bundles/BUNDLE.zip is\n");
    let text = format!(
        "✓ Pack: 9 bytes\n✓ Upload: 31 KB (0.1 s)\n/p/x at http://127.0.0.1:80/{id} in storage.rs:41 (2 s)\n  + 3 A\n"
    );
    assert_eq!(
        normal(&text, Path::new("/p")),
        "✓ Pack: N bytes\n✓ Upload: N KB (TIME)\nPROJECT/x at http://127.0.0.1:PORT/ID in storage.rs:LINE (TIME)\n"
    );
}

/// Each message names a cause and a next step.
#[test]
fn every_transcript_is_of_a_case_and_says_what_is_wrong_and_what_to_do() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("integration/aws_faults");
    let sources: String = fs::read_dir(source)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut transcripts = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            sources.contains(&format!("{name:?}")),
            "no test uses the transcript {name}: delete it"
        );
        let text = fs::read_to_string(&path).unwrap();
        let said = text.split("\nerror: ").skip(1);
        for error in said.clone() {
            let (cause, help) = error.split_once("\nhelp: ").unwrap_or_else(|| panic!("{name}"));
            assert!(!cause.trim().is_empty(), "{name}");
            let next = ["run `synth", "same command again", "`synth deploy", "run `aws"];
            assert!(next.iter().any(|next| help.contains(next)), "{name}: {help}");
        }
        assert!(said.count() > 0, "{name} shows no error");
        transcripts += 1;
    }
    assert!(transcripts > 20, "{transcripts}");
}

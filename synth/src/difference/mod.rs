//! What a deployment would change, for people, for programs and for pull requests.

mod markdown;
mod old;
mod revision;
mod text;
mod words;

#[cfg(test)]
mod samples;

use cellar_stacks::difference::{Difference, Severity};
use serde::Serialize;

pub(crate) use markdown::{markdown, marker};
pub(crate) use old::Old;
pub(crate) use text::text;

/// What the new template is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Against {
    /// `deployed`, `file` or `revision`.
    pub(crate) kind: &'static str,
    /// Which: its name, for people too.
    pub(crate) name: String,
    /// Whether there is anything at all.
    pub(crate) exists: bool,
}

/// A difference with its names: as JSON, what `synth --json diff` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    /// The stack.
    pub(crate) stack: &'a str,
    /// The old side.
    pub(crate) against: &'a Against,
    /// What to bear in mind when reading it.
    pub(crate) notes: &'a [String],
    /// How many resources and permissions there are of each kind.
    pub(crate) counts: Counts,
    /// All of it.
    #[serde(flatten)]
    pub(crate) difference: &'a Difference,
}

/// How much there is of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    /// Resources that change in any way.
    pub(crate) resources: usize,
    /// Those of them whose data is at risk.
    pub(crate) destructive: usize,
    /// Groups of permissions that are broadened.
    pub(crate) broadened: usize,
    /// Resources that are replaced, or may be.
    pub(crate) replaced: usize,
}

impl<'a> Report<'a> {
    /// With its counts.
    pub(crate) fn new(stack: &'a str, old: &'a Old, difference: &'a Difference) -> Self {
        let count = |matches: fn(&words::Change) -> bool| {
            difference.resources.iter().filter(|change| matches(change)).count()
        };
        let counts = Counts {
            resources: difference.resources.len(),
            destructive: count(|change| change.severity == Severity::Destructive),
            broadened: difference.permissions.broadened.len(),
            replaced: count(words::is_replaced),
        };
        Self { stack, against: &old.against, notes: &old.notes, counts, difference }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{check_json_snapshot, samples};

    #[test]
    fn the_json_for_programs_is_as_committed() {
        for sample in
            samples().into_iter().filter(|sample| ["mixed", "none"].contains(&sample.name))
        {
            let json = serde_json::to_value(sample.report()).unwrap();
            check_json_snapshot(&format!("{}.json", sample.name), &json);
        }
    }
}

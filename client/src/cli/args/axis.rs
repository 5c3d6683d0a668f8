//! Arguments of `cellar rows` and `cellar columns`. The two commands differ only in their help
//! texts.

use cellar_base::limits::MAX_INSERT;
use clap::{Args, Command, Subcommand};

#[derive(Debug, Args)]
pub(in crate::cli) struct AxisArguments {
    #[command(subcommand)]
    pub(in crate::cli) command: AxisCommand,
}

// `AxisWords` adds the help texts that contain the word "row" or "column".
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum AxisCommand {
    Insert {
        before: String,
        /// Number to insert
        #[arg(
            long, short = 'n', default_value_t = 1,
            value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_INSERT))
        )]
        count: u32,
        /// Sheet [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
    Delete {
        #[arg(required = true)]
        spans: Vec<String>,
        /// Sheet [default: the first]
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
}

impl AxisCommand {
    pub(in crate::cli) fn sheet_name(&self) -> Option<&str> {
        match self {
            Self::Insert { sheet, .. } | Self::Delete { sheet, .. } => sheet.as_deref(),
        }
    }
}

/// Words and examples that are inserted into the help of `cellar rows` or `cellar columns`.
pub(super) struct AxisWords {
    singular: &'static str,
    plural: &'static str,
    /// Placeholder name of the argument of `delete`, such as `ROWS`.
    value_name: &'static str,
    one_example: &'static str,
    range_example: &'static str,
    /// Example of several rows or columns, separated by spaces.
    list_example: &'static str,
}

pub(super) const ROW_WORDS: AxisWords = AxisWords {
    singular: "row",
    plural: "rows",
    value_name: "ROWS",
    one_example: "3",
    range_example: "3:5",
    list_example: "3 7 9:12",
};

pub(super) const COLUMN_WORDS: AxisWords = AxisWords {
    singular: "column",
    plural: "columns",
    value_name: "COLUMNS",
    one_example: "C",
    range_example: "C:D",
    list_example: "C F:G",
};

impl AxisWords {
    /// Adds help texts to the subcommand `insert` or `delete`.
    pub(super) fn add_help(&self, subcommand: Command) -> Command {
        match subcommand.get_name() {
            "insert" => self.add_insert_help(subcommand),
            _ => self.add_delete_help(subcommand),
        }
    }

    fn add_insert_help(&self, insert: Command) -> Command {
        let Self { singular, plural, one_example, .. } = self;
        let first_example = format!("cellar {plural} insert {one_example}");
        insert
            .about(format!("Insert blank {plural}"))
            .mut_arg("before", |before| {
                before.help(format!("Insert before this {singular}, such as {one_example}"))
            })
            .after_help(format!(
                "Examples:\n  {first_example:<34}# one {singular} before {singular} {one_example}\n  \
                 {first_example} --count 2 --sheet Costs"
            ))
    }

    fn add_delete_help(&self, delete: Command) -> Command {
        let Self { plural, value_name, one_example, range_example, list_example, .. } = self;
        delete
            .about(format!("Delete {plural} and their contents"))
            .mut_arg("spans", |spans| {
                spans.value_name(*value_name).help(format!(
                    "Delete these {plural} in one edit, such as {one_example} or {range_example}"
                ))
            })
            .after_help(format!(
                "Examples:\n  cellar {plural} delete {range_example}\n  \
                 cellar {plural} delete {list_example} --sheet Costs"
            ))
    }
}

//! The steps, the measured quantities, and the figures of a size.

use cellar_api::cost::{Cost, Prices};
use serde::Serialize;

/// How the figures of a step may grow with the number of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Nearly constant.
    Constant,
    /// In proportion to the number of cells.
    Linear,
}

/// A step of the measurement, in the order in which the steps run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Import of the csv file.
    Import,
    /// View of the first rows, without cached chunks.
    ViewFirst,
    /// View of the last rows, without cached chunks.
    ViewLast,
    /// View of rows anywhere, without cached chunks.
    ViewRandom,
    /// Edit of one cell.
    Edit,
    /// Insert of a row above all others.
    InsertAtTop,
    /// First snapshot, which includes the import and the inserts.
    FirstSnapshot,
    /// Next snapshot, after a few edits.
    NextSnapshot,
    /// View of rows anywhere of the snapshot, without cached chunks.
    ViewSnapshot,
    /// Export to csv on standard output.
    Export,
    /// Fork at the newest position.
    Fork,
    /// Differences of an edited fork from its source.
    Diff,
}

impl Step {
    /// All steps.
    pub const ALL: [Self; 12] = [
        Self::Import,
        Self::ViewFirst,
        Self::ViewLast,
        Self::ViewRandom,
        Self::Edit,
        Self::InsertAtTop,
        Self::FirstSnapshot,
        Self::NextSnapshot,
        Self::ViewSnapshot,
        Self::Export,
        Self::Fork,
        Self::Diff,
    ];

    /// Returns the label in tables and pictures.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::ViewFirst => "view first rows",
            Self::ViewLast => "view last rows",
            Self::ViewRandom => "view random rows",
            Self::Edit => "edit a cell",
            Self::InsertAtTop => "insert a row at the top",
            Self::FirstSnapshot => "first snapshot",
            Self::NextSnapshot => "snapshot after ten edits",
            Self::ViewSnapshot => "view random rows of it",
            Self::Export => "export csv as a stream",
            Self::Fork => "fork",
            Self::Diff => "diff of the fork",
        }
    }

    /// Returns how the time, the requests and the bytes of the step may grow.
    #[must_use]
    pub const fn growth(self) -> Growth {
        match self {
            Self::Import | Self::Export => Growth::Linear,
            _ => Growth::Constant,
        }
    }
}

/// A measured quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Elapsed time.
    Wall,
    /// Processor time of the client.
    ClientCpu,
    /// Processor time of the stack.
    StackCpu,
    /// Peak memory of the client.
    ClientMemory,
    /// Peak memory of the stack.
    StackMemory,
    /// Stored objects that the step added.
    AddedObjects,
    /// Bytes of objects that the client or the API read and wrote.
    MovedBytes,
    /// Cost of requests.
    Dollars,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 8] = [
        Self::Wall,
        Self::ClientCpu,
        Self::StackCpu,
        Self::ClientMemory,
        Self::StackMemory,
        Self::AddedObjects,
        Self::MovedBytes,
        Self::Dollars,
    ];

    /// Returns the label in tables and pictures.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Wall => "time",
            Self::ClientCpu => "processor time of the client",
            Self::StackCpu => "processor time of the stack",
            Self::ClientMemory => "peak memory of the client",
            Self::StackMemory => "peak memory of the stack",
            Self::AddedObjects => "objects added to the bucket",
            Self::MovedBytes => "bytes of objects read and written",
            Self::Dollars => "dollars for requests",
        }
    }

    /// Returns the smallest value that counts. Smaller values are noise of a busy machine, or the
    /// overhead of a process.
    #[must_use]
    pub const fn floor(self) -> f64 {
        match self {
            Self::Wall | Self::ClientCpu | Self::StackCpu => 0.1,
            Self::ClientMemory | Self::StackMemory => 32e6,
            Self::AddedObjects => 4.0,
            Self::MovedBytes => 300e3,
            Self::Dollars => 1e-6,
        }
    }

    /// Returns how the quantity may grow in a step. Memory never grows with the number of cells.
    #[must_use]
    pub const fn growth(self, step: Step) -> Growth {
        match self {
            Self::ClientMemory | Self::StackMemory => Growth::Constant,
            _ => step.growth(),
        }
    }

    /// Returns the value in the figures of a step.
    #[must_use]
    pub fn value(self, figures: &StepFigures) -> f64 {
        match self {
            Self::Wall => figures.wall_s,
            Self::ClientCpu => figures.client_cpu_s,
            Self::StackCpu => figures.stack_cpu_s,
            Self::ClientMemory => figures.client_peak_bytes as f64,
            Self::StackMemory => figures.stack_peak_bytes as f64,
            Self::AddedObjects => figures.added_objects as f64,
            Self::MovedBytes => figures.moved_bytes as f64,
            Self::Dollars => figures.dollars,
        }
    }
}

/// Figures of a step. Of repeated steps, times and costs are medians, and memory is the maximum.
#[derive(Debug, Clone, Serialize)]
pub struct StepFigures {
    /// The step.
    pub step: Step,
    /// Elapsed time in seconds.
    pub wall_s: f64,
    /// Processor time of the client in seconds.
    pub client_cpu_s: f64,
    /// Processor time of the stack in seconds, with the work after the reply.
    pub stack_cpu_s: f64,
    /// Peak of the client's resident memory in bytes.
    pub client_peak_bytes: u64,
    /// Peak of the stack's resident memory in bytes.
    pub stack_peak_bytes: u64,
    /// Objects that the step added to the bucket, without uploads.
    pub added_objects: u64,
    /// Bytes of these objects.
    pub added_bytes: u64,
    /// Read request units.
    pub read_units: f64,
    /// Write request units.
    pub write_units: u64,
    /// PUTs and tag requests of objects.
    pub object_puts: u64,
    /// GETs of objects.
    pub object_gets: u64,
    /// Bytes of the read and written objects.
    pub moved_bytes: u64,
    /// Price of the requests.
    pub dollars: f64,
}

impl StepFigures {
    /// Returns figures without usage of resources.
    #[must_use]
    pub fn of_cost(step: Step, cost: &Cost) -> Self {
        const PICODOLLARS_PER_DOLLAR: f64 = 1e12;
        let picodollars = Prices::US_EAST_1.dollars(cost).picodollars();
        Self {
            step,
            wall_s: 0.0,
            client_cpu_s: 0.0,
            stack_cpu_s: 0.0,
            client_peak_bytes: 0,
            stack_peak_bytes: 0,
            added_objects: 0,
            added_bytes: 0,
            read_units: cost.read_units(),
            write_units: cost.write_units,
            object_puts: cost.object_puts + cost.object_tags,
            object_gets: cost.object_gets,
            moved_bytes: cost.object_bytes_received + cost.object_bytes_sent,
            dollars: picodollars as f64 / PICODOLLARS_PER_DOLLAR,
        }
    }

    /// Combines the figures of a repeated step. Returns `None` without figures.
    #[must_use]
    pub fn combine(repeats: &[Self]) -> Option<Self> {
        let sorted_by = |key: fn(&Self) -> f64| {
            let mut sorted: Vec<&Self> = repeats.iter().collect();
            sorted.sort_by(|one, other| key(one).total_cmp(&key(other)));
            sorted
        };
        let median_by = |key| sorted_by(key).get(repeats.len() / 2).copied();
        Some(Self {
            wall_s: median_by(|figures| figures.wall_s)?.wall_s,
            // The stack has periodic work, so that the mean would include work of other steps.
            client_cpu_s: median_by(|figures| figures.client_cpu_s)?.client_cpu_s,
            stack_cpu_s: median_by(|figures| figures.stack_cpu_s)?.stack_cpu_s,
            client_peak_bytes: repeats.iter().map(|it| it.client_peak_bytes).max()?,
            stack_peak_bytes: repeats.iter().map(|it| it.stack_peak_bytes).max()?,
            ..median_by(|figures| figures.dollars)?.clone()
        })
    }
}

/// Figures of all steps of a size.
#[derive(Debug, Clone, Serialize)]
pub struct SizeFigures {
    /// Cells in the range, of which 92.5 % are not blank.
    pub cells: u64,
    /// Bytes of the csv file.
    pub csv_bytes: u64,
    /// Objects in the bucket at the end, without uploads.
    pub stored_objects: u64,
    /// Bytes of these objects.
    pub stored_bytes: u64,
    /// Figures of the steps, in the order of [`Step::ALL`].
    pub steps: Vec<StepFigures>,
}

impl SizeFigures {
    /// Returns the value of a quantity in a step.
    #[must_use]
    pub fn value(&self, step: Step, quantity: Quantity) -> Option<f64> {
        let figures = self.steps.iter().find(|figures| figures.step == step)?;
        Some(quantity.value(figures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_combined() {
        let figures = |wall_s, write_units, client_peak_bytes| StepFigures {
            wall_s,
            client_cpu_s: wall_s,
            client_peak_bytes,
            ..StepFigures::of_cost(Step::Edit, &Cost { write_units, ..Cost::default() })
        };
        let repeats = [figures(1.0, 9, 7), figures(6.0, 1, 8), figures(2.0, 1, 5)];
        let combined = StepFigures::combine(&repeats).unwrap();
        assert!((combined.wall_s - 2.0).abs() < 1e-9 && (combined.client_cpu_s - 2.0).abs() < 1e-9);
        assert_eq!((combined.write_units, combined.client_peak_bytes), (1, 8));
        assert!((combined.dollars - 0.625e-6).abs() < 1e-12);
        assert!(StepFigures::combine(&[]).is_none());
    }
}
